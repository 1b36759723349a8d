"""All of Slack: messages, notifications, requests and the actions that they ask for."""
