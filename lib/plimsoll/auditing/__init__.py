"""An audit in steps: list, price, read, decide, explain."""
