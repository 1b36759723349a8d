"""Markdown for a ticket or a pull request."""
