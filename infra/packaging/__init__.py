"""The Lambdas' zips, built without Docker: what a handler imports, at the lock file's versions, and nothing else."""

from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]

RUNTIME: Final = "3.13"
"""The Python of Lambda's runtime python3.13."""
