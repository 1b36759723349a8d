"""Every command as people see it: its options and its help.

A command imports what carries it out when it runs: help and a mistyped option are answered without waiting for clouds,
arrays and schemas. No other modules of Plimsoll import late.
"""
