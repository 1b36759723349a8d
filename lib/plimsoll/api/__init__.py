"""What `import plimsoll` offers (docs/python.md), and what the command line calls: one code for both."""
