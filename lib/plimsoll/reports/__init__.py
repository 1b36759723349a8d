"""Recommendations for people: terminal tables and files."""
