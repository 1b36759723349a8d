"""Requests from Slack: what is checked of each, what it asks, and the first answer to it."""
