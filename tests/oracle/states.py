"""What is paid for and not used, straight from what was laid out: volumes, snapshots as sets of blocks, images, rules.

Written from docs/results-as-data.md alone, as plainly as possible. It shares nothing with the library.
"""

from datetime import timedelta

MAY_DELETE = ("plimsoll:may-delete", "true")


def volume_states(fleet, idle_days=30):
    """For each volume in a state: its state, what is done, and the codes of what is missing for that."""
    (place,) = {(volume.account, volume.region) for volume in fleet.volumes}
    keeping, now = fleet.keeping[place], fleet.now
    answers = {}
    for volume in fleet.volumes:
        tags = dict(volume.tags)
        if volume.state == "available":
            answers[volume.id] = (
                "detached",
                "snapshot-and-delete",
                detached_lacks(volume, tags, keeping, now, idle_days),
            )
        elif volume.hosts and all(host.stopped for host in volume.hosts):
            since = max(host.stopped for host in volume.hosts)
            if now - since >= timedelta(days=idle_days):
                dear = volume.spec.type in ("io1", "io2") or (volume.spec.iops or 0) > 3000
                codes = set() if dear else {"owners-word"}
                answers[volume.id] = ("on-a-stopped-host", "reprovision" if dear else "ask", codes)
        elif volume.workload is not None and volume.workload.high_iops == 0:
            answers[volume.id] = ("idle", "snapshot-and-delete", {"owners-word", "no-snapshot"})
    return answers


def detached_lacks(volume, tags, keeping, now, idle_days):
    """What is missing for the delete of a volume that is attached to nothing."""
    if MAY_DELETE in tags.items():
        return set()
    missing = set()
    was_on_a_host = any(event.name == "AttachVolume" for event in volume.past)
    of_kubernetes = any(key.startswith("kubernetes.io/") for key in tags)
    if of_kubernetes or not was_on_a_host or now - volume.detached < timedelta(days=idle_days):
        missing.add("owners-word")
    if not any(snap.volume_id == volume.id and snap.started >= volume.detached for snap in keeping.snapshots):
        missing.add("no-snapshot")
    if not {"EBS_VOLUME", "EBS_SNAPSHOT"} <= {rule.kind for rule in keeping.rules}:
        missing.add("no-retention-rule")
    return missing


def snapshot_states(fleet, keep_days=365):
    """For each snapshot that is in a state of being deleted: that state, and the codes of what is missing for it."""
    (place,) = {(volume.account, volume.region) for volume in fleet.volumes}
    keeping, now = fleet.keeping[place], fleet.now
    old, answers = timedelta(days=keep_days), {}
    named = {image for images in keeping.templates.values() for image in images}
    named |= {host.image for volume in fleet.volumes for host in volume.hosts}
    for snap in keeping.snapshots:
        missing = set()
        images = [image for image in keeping.images if snap.id in image.snapshots]
        of_gone = "for ami-" in snap.description and not images
        newest = max(other.started for other in keeping.snapshots if other.volume_id == snap.volume_id)
        if images and not any(image.id in named for image in images):
            if any(now - (image.launched or image.created) < old for image in images):
                continue
            state = "snapshot-of-an-unused-image"
            missing |= {"shared"} if any(image.shared or image.public for image in images) else set()
        elif of_gone:
            state = "snapshot-of-a-deregistered-image"
        elif fleet.volume(snap.volume_id) is None:
            state = "snapshot-of-a-deleted-volume"
        elif now - snap.started >= old and snap.started < newest and not images:
            state = "snapshot-beyond-its-age"
        else:
            continue
        missing |= {"shared"} if snap.shared else set()
        missing |= {"locked"} if snap.locked else set()
        missing |= {"managed"} if any(key.startswith("aws:backup") for key, _ in snap.tags) else set()
        missing |= {"in-use"} if any(restore.snapshot_id == snap.id for restore in keeping.restores) else set()
        if state in ("snapshot-of-a-deleted-volume", "snapshot-of-an-unused-image"):
            missing |= set() if MAY_DELETE in snap.tags else {"owners-word"}
        missing |= set() if "EBS_SNAPSHOT" in {rule.kind for rule in keeping.rules} else {"no-retention-rule"}
        answers[snap.id] = (state, missing)
    return answers


def freed_gib(keeping, ids):
    """The blocks that nobody has once these snapshots are gone."""
    stay = set().union(*(snap.blocks for snap in keeping.snapshots if snap.id not in ids and not snap.archived))
    return len(set().union(*(snap.blocks for snap in keeping.snapshots if snap.id in ids)) - stay)


def archive_saved(keeping, snap, gib_month=0.05, archive_gib_month=0.0125):
    """USD a month that archiving saves: what only it has leaves the standard tier, all of it goes to the archive."""
    return freed_gib(keeping, {snap.id}) * gib_month - len(snap.blocks) * archive_gib_month
