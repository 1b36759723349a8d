"""The sentences that explain a recommendation to the person who has to act on it."""
