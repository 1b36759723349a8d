"""The driver of the decision: it reads as little as proves the answer."""
