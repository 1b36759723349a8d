"""Volumes that share a host, a pool, a stripe set or a template: found here, and answered together."""
