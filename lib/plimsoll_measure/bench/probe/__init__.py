"""The probe: what a host counts of its volumes, read once a second. It does no I/O."""
