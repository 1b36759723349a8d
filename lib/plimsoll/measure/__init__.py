"""What measurements say: verdicts, runs and fits."""
