"""Section 9, templates: one change for volumes that one template makes, by going through them all."""

from tests.oracle.limits import price
from tests.oracle.naive import POLICY, decide


def change_of(members, region, policy=POLICY):
    """The change of a template's volumes (target, volumes, saved), or None.

    members: for each the arguments of `decide` by name. Each is decided on as if no least saving was asked for. Of one
    that is to be relieved nothing is taken, although something as good may be cheaper.
    """
    targets, now = [], 0.0
    for one in members:
        if decide(**one)["action"] == "upgrade":
            return None
        found = decide(**{**one, "policy": {**one["policy"], "min_saving_usd_month": 1e-6}})
        if found["action"] not in {"migrate", "reprovision"}:
            return None
        targets.append(found["target"])
        now += found["usd_now"]
    if len(members) < 2 or len({target["type"] for target in targets}) > 1:
        return None
    highest = {side: max(target[side] or 0 for target in targets) for side in ("iops", "throughput_mib_s")}
    then = sum(price({**target, **highest}, region) for target in targets)
    if now - then < policy["min_saving_usd_month"]:
        return None
    return {"target": (targets[0]["type"], *highest.values()), "volumes": len(members), "saved": now - then}
