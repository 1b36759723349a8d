"""Telling: what happened is posted to Slack, once however often it is tried."""
