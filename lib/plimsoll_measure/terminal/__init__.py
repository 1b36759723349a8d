"""Measurements on the terminal."""
