"""Section 9, takeovers: each volume is decided alone first, and again with room for what the others will carry."""

from tests.oracle.limits import ceiling
from tests.oracle.naive import decide, older

NAMES = ("iops", "mib_s", "sustained_iops", "sustained_mib_s")


def decide_with_peers(one, others, frontier=False):
    """The answer for one volume that takes over from others.

    one, others: the arguments of `naive.decide` by name; those that are `excluded` stay as they are. What others are
    attached to nothing ask for nothing.
    """
    found = decide(**one, frontier=frontier)
    chosen = found.get("expected") or found["target"]
    if found["action"] not in {"migrate", "reprovision", "upgrade", "wait"}:
        return found
    now, least = limit_of(one, one["volume"]["spec"]), dict.fromkeys(NAMES, 0.0)
    for other in others:
        asked = carried(other, now, waits=found["action"] == "wait")
        least = {name: max(least[name], min(now[name], asked[name])) for name in NAMES}
    if all(limit_of(one, chosen)[name] >= least[name] - 1e-6 for name in NAMES):
        return found
    return decide(**{**one, "volume": {**one["volume"], "room_for": least}}, frontier=frontier)


def carried(other, now, waits):
    """What another volume will carry by its own answer; as much as there is now (`now`) where that is not known.

    waits: whether the one that asks waits, so that what is expected of others that wait counts.
    """
    if other.get("excluded"):
        return limit_of(other, other["volume"]["spec"])
    found = decide(**{name: value for name, value in other.items() if name != "excluded"})
    if found["action"] == "detached":
        return dict.fromkeys(NAMES, 0.0)
    if found["action"] == "insufficient-data" or found.get("unmeasured"):
        return now
    if found["action"] == "wait" and waits:
        return limit_of(other, found["expected"])
    changes = found["action"] in {"migrate", "reprovision", "upgrade"}
    return limit_of(other, found["target"] if changes else other["volume"]["spec"])


def limit_of(one, spec):
    return ceiling(spec, older(one["volume"]["hosts"]))
