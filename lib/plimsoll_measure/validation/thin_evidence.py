"""Thin evidence: the recommendations of a run that need a measurement."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from plimsoll.model.kinds import CHANGES
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import Grade, Policy
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import EVIDENCE
from plimsoll_measure.runs import Want


def wants_in(
    records: Iterable[RecommendationRecord], policy: Policy, least: Grade | None, types: Mapping[str, VolumeType]
) -> Iterator[Want]:
    """The changes of a run whose evidence is under `least` (None: the policy's grade for them, else grade B).

    A change that is blocked for another reason is left out. Volumes that are to share a pool are measured as one volume
    of their summed size.
    """
    changes = [record for record in records if record.action in CHANGES and record.target is not None]
    pools = _pools(changes, types)
    for record in changes:
        if record.target is None or record.evidence is None:
            continue
        wanted = least or policy.require_evidence.get(record.action, policy.require_evidence.get("*", Grade.B))
        if Grade[record.evidence.grade] >= wanted or any(blocker.code != EVIDENCE for blocker in record.blockers):
            continue
        spec = record.target.spec
        if types[spec.type].pooled:
            spec = replace(spec, size_gib=pools[_pool_key(record)])
        yield Want(
            volume_id=record.volume_id,
            account=record.account,
            region=record.region,
            zone=record.zone,
            spec=spec,
            ceiling=types[spec.type].ceiling(spec),
            saved_usd_month=record.monthly_usd_saved,
        )


_PoolKey = tuple[str, str, tuple[str, ...], str]


def _pools(changes: Iterable[RecommendationRecord], types: Mapping[str, VolumeType]) -> Mapping[_PoolKey, int]:
    """The GiB that are to become a pooled type on each host.

    All of them are one pool: all volumes of a pool change as one, and only one pool of a host joins another.
    """
    sizes: Counter[_PoolKey] = Counter()
    for record in changes:
        if record.target is not None and types[record.target.type].pooled:
            sizes[_pool_key(record)] += record.target.size_gib
    return sizes


def _pool_key(record: RecommendationRecord) -> _PoolKey:
    """The key of a record's pool. A volume of several hosts, or of none, is in no pool with others."""
    alone = () if len(record.hosts) == 1 else (record.volume_id,)
    return record.account, record.zone, (*record.hosts, *alone), record.target.type if record.target else ""
