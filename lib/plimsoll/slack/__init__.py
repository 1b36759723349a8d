"""Slack: what is sent there and what people ask of Plimsoll from there, over the Web API and its interactions."""
