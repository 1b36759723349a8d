"""What came of a cloud: sums over time, what of them is known, and what disagrees in them."""
