"""Tables and texts in a terminal."""
