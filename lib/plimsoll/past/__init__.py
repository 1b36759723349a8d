"""What the days before the window say."""
