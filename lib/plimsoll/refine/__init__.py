"""What drives the decision, and reads as little as proves the answer."""
