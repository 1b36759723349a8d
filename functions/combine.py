"""Combines one shard of a run's answers."""

from functions.entry_point import entry
from plimsoll_service.combining import combine

handler = entry(combine)
