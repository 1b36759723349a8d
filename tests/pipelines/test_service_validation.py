"""Validation in steps gives what `plimsoll validate` gives, whatever fails in between, and leaves nothing behind."""

from pathlib import Path

import pytest

from plimsoll.domain.validation import Mode
from plimsoll.service.measured import verdicts_in
from plimsoll.validation.rounds import Concluded, Decided
from tests.builders import a_volume

from .lab import Lab, the, work
from .stepping import STEPS, Stepping

MOMENT = {"id", "at", "campaign", "seconds", "usd"}
"""What of a verdict is of its own moment."""


def verdict(line):
    return line.model_dump(exclude=MOMENT)


def figures(folder: Path, campaign: str):
    """The text of a campaign without its own name."""
    return (folder / f"{campaign}.yaml").read_text(encoding="utf-8").replace(campaign, "NAME")


def without_names(record, campaigns):
    text = record.model_dump_json()
    for campaign in campaigns:
        text = text.replace(campaign, "NAME")
    return text


CASES = {
    "passes": {},
    "fails and the next offer is measured": {
        "volumes": (a_volume("io1", 500, iops=20_000, id="vol-1"),),
        "work_of": {"vol-1": work(2500.0, 40.0)},
        "shares": {"gp3": 0.5},
    },
    "nothing delivers": {"work_of": {"vol-1": work(1400.0, 100.0)}, "shares": {"gp3": 0.5, "io2": 0.5}},
    "in place": {"work_of": {"vol-1": work(500.0, 8.0)}, "mode": Mode.IN_PLACE},
    "a copy": {"mode": Mode.COPY},
    "a bare flip": {
        "volumes": (a_volume("gp2", 1000, id="vol-1"),),
        "work_of": {"vol-1": work(1200.0, 180.0)},
        "target": "flip",
    },
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_steps_give_the_verdicts_the_campaigns_and_the_recommendation_of_the_command(case, tmp_path):
    facts = dict(case)
    mode, target, volumes = facts.pop("mode", Mode.CANARY), facts.pop("target", None), facts.pop("volumes", ())
    at_one_go, lab = (Lab(tmp_path / name, *volumes, **facts) for name in ("at-one-go", "in-steps"))
    events = at_one_go.validate(mode=mode, target=target)
    stepping = Stepping(lab=lab)
    given = {"volume_id": "vol-1", "mode": mode, **({"target": target} if target else {})}
    (done,) = stepping.validate(**given)

    lines = [event.line for event in events if isinstance(event, Concluded)]
    assert [verdict(line) for line in done.lines] == [verdict(line) for line in lines]
    measured = stepping.service.measured
    for ours, theirs in zip(done.lines, lines, strict=True):
        assert figures(measured, ours.campaign) == figures(at_one_go.folder, theirs.campaign)
    decided = the(Decided, events)
    campaigns = [line.campaign for line in (*lines, *done.lines)]
    assert without_names(done.before, campaigns) == without_names(decided.before, campaigns)
    assert without_names(done.after, campaigns) == without_names(decided.after, campaigns)
    assert [task.job for task in lab.tasks] == [task.job for task in at_one_go.tasks]
    assert verdicts_in(stepping.store) == list(done.lines)
    assert [kind for kind, _ in stepping.events.sent] == ["ValidationCompleted"] * len(lines)
    assert not lab.leaked
    assert not stepping.claims.held
