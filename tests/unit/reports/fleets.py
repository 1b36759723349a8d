"""Fleets: the records of runs, of every action, of what is at the edge, and as hypothesis draws them."""

from hypothesis import strategies as some

from plimsoll.reports.record import RecommendationRecord, StripeSetRecord
from plimsoll.reports.story.run import Overview, count_volumes, counted_run, tell_steps
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.strategies import HOSTILE


def a_fleet(count: int) -> list[RecommendationRecord]:
    """Volumes of every action in turn, in several accounts."""
    actions = ("migrate", "reprovision", "upgrade", "keep", "wait", "detached", "insufficient-data")
    return [
        a_record(
            actions[number % len(actions)],
            change=f"change number {number}",
            volume_id=f"vol-{number:017x}",
            name=f"name-{number}",
            account=f"{111111111111 * (1 + number % 3)}",
        )
        for number in range(count)
    ]


def special_records() -> dict[str, list[RecommendationRecord]]:
    """What a run may hold at its edges, by name."""
    whole = a_record("migrate")
    stripes = StripeSetRecord(
        name="md0",
        level="raid0",
        host="i-1",
        mounts=["/data"],
        members=[whole.volume_id, "vol-other"],
        held_back_by={"vol-other": "its change is in progress"},
        monthly_usd_now=100.0,
        monthly_usd_then=80.0,
        monthly_usd_saved=20.0,
    )
    return {
        "empty": [],
        "one": [whole],
        "keeps": [a_record("keep", volume_id=f"vol-{number}") for number in range(3)],
        "no prices": [
            a_record("insufficient-data", volume_id=f"vol-{number}", monthly_usd_now=None, monthly_usd_then=None)
            for number in range(2)
        ],
        "some prices": [whole, a_record("insufficient-data", volume_id="vol-unpriced", monthly_usd_now=None)],
        "old": [whole.model_copy(update={"ceilings": None})],
        "stripes": [whole.model_copy(update={"stripe_set": stripes})],
        "dear upgrade": [a_record("upgrade", monthly_usd_saved=-99.5, monthly_usd_saved_drop_in=0.0)],
        "hostile": [a_record(name=name, volume_id=f"vol-{number}") for number, name in enumerate(HOSTILE)],
    }


_MONEY = some.floats(0, 10_000).map(lambda amount: round(amount, 2))
FLEETS = some.lists(
    some.builds(
        lambda action, saved, share, account, region: a_record(
            action,
            monthly_usd_now=saved + 10,
            monthly_usd_saved=saved if action != "detached" else 0.0,
            monthly_usd_saved_drop_in=round(saved * share, 2),
            account=account,
            region=region,
        ),
        some.sampled_from(("migrate", "reprovision", "upgrade", "keep", "detached")),
        _MONEY,
        some.floats(0, 1),
        some.sampled_from([f"{number}" for number in range(100)]),
        some.sampled_from(("us-east-1", "eu-west-1")),
    ),
    max_size=30,
)


def overview_of(records):
    overview = Overview()
    assert [record for record, _ in count_volumes(((record, None) for record in records), overview)] == list(records)
    return overview


def run_of(records, **fields):
    """A run with the sums of these records."""
    return counted_run(a_run_record(**{"id": "r", **fields}), overview_of(records).totals)


def steps_of(records, policy, folder):
    """What is told of the steps of these records."""
    return tell_steps(run_of(records), policy, folder, overview_of(records))
