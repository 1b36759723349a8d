"""Google Cloud: the ports fulfilled with Google's clients, permissions, and published limits and prices as data."""
