"""Metrics: what volumes did, minute by minute, and how it is folded into the statistics that clouds serve."""
