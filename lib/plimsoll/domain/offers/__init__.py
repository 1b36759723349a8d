"""The configurations that could replace a volume, each tried against the required demand, and the choice among them."""
