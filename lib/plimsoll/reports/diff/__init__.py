"""The difference of two runs: what has become of each volume, and what has been saved since."""
