"""The decision: offers, choice, groups, evidence, answer and its reasons. Pure, and knows no reading."""
