"""Refine drives the decision, and reads metrics until nothing unread could change an answer."""
