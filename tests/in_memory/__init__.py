"""Ports in memory that tests alone need."""
