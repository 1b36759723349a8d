"""What is known of the metrics of a volume, and of what was lost on the way."""
