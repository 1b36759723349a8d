"""What could be bought instead, each tried against the required demand, and which of it is chosen."""
