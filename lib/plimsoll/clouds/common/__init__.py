"""The common parts of every cloud's adapter."""
