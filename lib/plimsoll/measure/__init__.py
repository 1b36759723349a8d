"""Measurements that benchmarks made: verdicts, runs and fits."""
