"""What a change of an EBS volume gives up, by a table of what is published: nothing, limits, or something else.

Latency is a rank (2: under a millisecond, 1: single-digit milliseconds, 0: tens of them); then durability, and how much
of its limits a type delivers how much of the time, all in percent; None where that is not published.
"""

from tests.oracle.choice import carries_all
from tests.oracle.limits import ceiling
from tests.oracle.naive import within

PUBLISHED = {
    "gp2": (1, 99.8, 90, 99),
    "gp3": (1, 99.8, 90, 99),
    "io1": (1, 99.8, 90, 99.9),
    "io2": (2, 99.999, 90, 99.9),
    "st1": (0, 99.8, 90, 99),
    "sc1": (0, 99.8, 90, 99),
    "standard": (0, 99.8, None, None),
}


def gives_up(now, then, older_host=False, most=None):
    """The codes of what is given up beside limits, and whether a limit is lowered.

    most: what its hosts carry at most, by side, where it can use no more.
    """
    lost = set()
    (rank, durable, share, time), (rank_then, durable_then, share_then, time_then) = (
        PUBLISHED[one["type"]] for one in (now, then)
    )
    if rank_then < rank:
        lost.add("latency-class")
    if durable_then < durable:
        lost.add("durability")
    if now["type"] != then["type"] and share_then is None:
        lost.add("not-known")
    if share is not None and share_then is not None and (share_then, time_then) < (share, time):
        lost.add("consistency")
    if then["size_gib"] > now["size_gib"]:
        lost.add("cannot-shrink")
    used = within(ceiling(now, older_host), most)
    cut = not carries_all(ceiling(then, older_host), used)
    if not cut and not carries_all(ceiling(then), ceiling(now)):
        lost.add("larger-host")
    return lost, cut
