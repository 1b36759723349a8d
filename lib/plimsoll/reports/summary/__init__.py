"""What is said of a whole run, whoever shows it: what can be saved, what to do first, and what could not be read."""
