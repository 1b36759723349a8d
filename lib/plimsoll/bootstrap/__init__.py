"""The composition root: the only place that chooses which implementation fulfills which port."""
