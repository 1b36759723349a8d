"""Devices: volumes as block devices of this machine, held to their limits, and the scripts that run against them."""
