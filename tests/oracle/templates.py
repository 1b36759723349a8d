"""Section 9, templates: one change for volumes that one template makes, by going through them all."""

from tests.oracle.limits import price
from tests.oracle.naive import POLICY, decide


def change_of(members, region, policy=POLICY):
    """The change of a template's volumes (target, volumes, saved), or None.

    members: for each the arguments of `decide` by name. Each is decided on as if no least saving was asked for, and as
    if it was not new. What is new needs a week of all together, and may have an hour alone. Of one that is to be
    relieved nothing is taken, although something as good may be cheaper.
    """
    targets, now, hours, week_h = [], 0.0, 0.0, policy["settle_days"] * 24
    young = [one["volume"].get("made", 0) + week_h * 60 > len(one["minutes"]["read_ops"]) for one in members]
    for one, is_new in zip(members, young, strict=True):
        volume = {**one["volume"], "made": None}
        rules = {
            **one["policy"],
            "min_saving_usd_month": 1e-6,
            "min_hours": 1 if is_new else one["policy"]["min_hours"],
        }
        if decide(**{**one, "volume": volume})["action"] == "upgrade":
            return None
        found = decide(**{**one, "volume": volume, "policy": rules})
        if found["action"] not in {"migrate", "reprovision"} or found.get("unmeasured"):
            return None
        targets.append(found["target"])
        now += found["usd_now"]
        hours += found["hours"]
    if any(young) and hours < week_h:
        return None
    if len(members) < 2 or len({target["type"] for target in targets}) > 1:
        return None
    highest = {side: max(target[side] or 0 for target in targets) for side in ("iops", "throughput_mib_s")}
    then = sum(price({**target, **highest}, region) for target in targets)
    if now - then < policy["min_saving_usd_month"]:
        return None
    return {"target": (targets[0]["type"], *highest.values()), "volumes": len(members), "saved": now - then}
