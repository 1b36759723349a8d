"""Google Cloud: the ports fulfilled with Google's clients, permissions, published limits and prices as dated data."""
