"""Tests of the wing of changes."""
