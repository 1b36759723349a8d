"""The days before the window: what is read of them, and what they say."""
