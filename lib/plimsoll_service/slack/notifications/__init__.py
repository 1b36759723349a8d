"""Notifications: reports and verdicts are posted to Slack, once however often that is tried."""
