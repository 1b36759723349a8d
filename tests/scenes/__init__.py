"""Scenes: volumes whose right answer a storage engineer wrote down before anything was run."""
