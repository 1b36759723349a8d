"""Changes on Google Cloud: Hyperdisks looked at, and given other IOPS and throughput by one call."""
