"""What was asked of a volume, in its epochs, and what a ceiling would have held back of it."""
