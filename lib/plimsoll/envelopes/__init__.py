"""Measured envelopes: campaigns read, rooflines fitted, and the library of them."""
