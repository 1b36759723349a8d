"""Mutants: faults that are put into the rule by chance, and which tests find each (README.md here)."""
