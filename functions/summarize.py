"""Adds up what the batches of a run came to."""

from functions.entry_point import entry
from plimsoll_service.summarizing import summarize

handler = entry(summarize)
