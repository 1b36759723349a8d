"""Previews: what a message looks like in Slack, as an HTML page and on the terminal."""
