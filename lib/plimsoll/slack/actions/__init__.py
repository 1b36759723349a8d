"""Acting: what people ask for in Slack, carried out after Slack has its answer."""
