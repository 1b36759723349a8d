"""Admissibility: what a measurement counts for, before anything is concluded from it."""
