"""The demand of a volume: what was asked of it in its epochs, and what a ceiling would have held back."""
