"""A second, deliberately naive reading of docs/decision.md and lib/rule.md: minute by minute, offer by offer.

It shares nothing with lib but the published figures (types.yaml, prices.yaml), so that both can be wrong only
separately.
"""
