"""Measurements with fio: campaigns and their envelopes, the offers that they prove, and those that they refute."""
