"""A second, deliberately naive reading of docs/decision.md: minute by minute, offer by offer, no cleverness.

It shares nothing with lib but the published figures (types.yaml, prices.yaml), so that both can be wrong only
separately.
"""
