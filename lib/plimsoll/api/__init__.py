"""The code behind `import plimsoll` (docs/python.md) and behind the command line: one for both."""
