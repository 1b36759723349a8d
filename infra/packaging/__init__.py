"""The Lambdas' zips, built without Docker: what a handler imports, at the lock file's versions, and nothing else."""

from typing import Final

RUNTIME: Final = "3.13"
"""The Python of Lambda's runtime python3.13."""
