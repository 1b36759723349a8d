"""Validation in short steps: what `plimsoll validate` does at one go, each part of it a call, so that a state machine
can wait in between.

The rules are those of `plimsoll.validation`. What one step has to tell the next is kept in the store, one document for
each item, so that any step may be called again: what is done already is not done twice.
"""
