"""Benchmarks: fio jobs and the SSM document that measure a volume, and the places that they may write to."""
