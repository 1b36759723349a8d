"""Messages for Slack: Block Kit of a run, of a verdict and of a volume, within Slack's limits whatever the fleet."""
