"""What to read next, and when nothing unread could change an answer any more."""
