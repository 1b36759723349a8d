"""Volumes that share a host, a pool, a stripe set or a template: they are found here, and answered together."""
