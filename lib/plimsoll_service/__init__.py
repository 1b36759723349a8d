"""The deployed service: a run that many workers carry out, each one part of it, over a store that they share.

Each module is one part: a function of the Lambdas calls it, and so does a test or a process on one machine.
"""
