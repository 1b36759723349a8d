"""Changes: a run's recommendations carried out in waves, judged by what came after, and taken back after harm."""
