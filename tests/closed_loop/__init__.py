"""The closed loop: what becomes of volumes that are audited weekly when every recommendation is followed."""
