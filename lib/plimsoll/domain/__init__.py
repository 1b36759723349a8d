"""The nouns and the decisions: pure, standard library and numpy alone."""
