"""Constructs: one capability each, composed by the stacks."""
