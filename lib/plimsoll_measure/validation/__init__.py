"""The validation pipeline: from recommendations whose evidence is thin to a measurement, a verdict and nothing left."""
