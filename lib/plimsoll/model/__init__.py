"""Nouns and tables: what volumes, ceilings, markets, policies, series and kinds are."""
