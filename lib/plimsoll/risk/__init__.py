"""Learned headroom, and promises that are held against what came after."""
