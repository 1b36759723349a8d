"""Changes on AWS: EBS volumes looked at and modified through EC2."""
