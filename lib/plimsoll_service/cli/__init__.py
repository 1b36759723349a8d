"""The commands of `plimsoll` that post to Slack."""
