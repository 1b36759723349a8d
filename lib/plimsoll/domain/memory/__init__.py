"""What a volume did before its window, as far as it speaks against a reduction or for growth."""
