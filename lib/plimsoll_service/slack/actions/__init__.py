"""Actions: what people ask for in Slack, carried out after Slack has its first answer."""
