"""AWS: the ports fulfilled with botocore, permissions, and published limits and prices as dated data."""
