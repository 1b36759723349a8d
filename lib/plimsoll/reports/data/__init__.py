"""Results as data: a run's files as views that SQL asks, and its tables as JSON, CSV and Parquet."""
