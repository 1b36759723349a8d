"""The functions of the service: one file for each Lambda, which parses, calls the service, and answers."""

from plimsoll.garbage import collect_rarely

collect_rarely()  # before the imports of a function, which take a tenth less of a processor then
