"""Benchmarks: what is run to measure a volume (fio job files, the SSM document), and where it may run."""
