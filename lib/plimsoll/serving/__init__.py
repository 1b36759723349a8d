"""The live page of `plimsoll serve`: the newest run in a browser, read-only, on this machine."""
