"""What the adapters of every cloud share."""
