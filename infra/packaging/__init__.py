"""The Lambdas' zips, built without Docker: what a handler imports, at the lock file's versions, and nothing else."""
