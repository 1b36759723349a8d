"""The HTML report: one file that opens anywhere, offline, with every volume's drill-down in it."""
