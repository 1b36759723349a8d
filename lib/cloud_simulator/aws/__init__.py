"""AWS: an organization of accounts with EC2, CloudWatch, Systems Manager and the price list."""
