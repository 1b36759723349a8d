"""Figures of the house that may only go down: `python -m tests.gates` prints them."""
