"""Published arrays on which Kayenta's judge passes a canary that is worse, and odd cases, with the right verdicts."""
