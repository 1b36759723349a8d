"""What a workload asked for over time, where something held it back, and what an offer therefore has to carry."""
