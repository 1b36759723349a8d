"""Fleets of any size with names that mean harm: Slack takes every message, and nothing is lost or forged."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.reports.record import BlockerRecord, EvidenceRecord, OwnerRecord
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import usd
from plimsoll_service.slack.actions.registry import CONTROLS
from plimsoll_service.slack.blocks.digest import Digest
from plimsoll_service.slack.blocks.elements import controls, volume_of_block
from plimsoll_service.slack.blocks.report import conversation
from tests.profiles import examples
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.strategies import HOSTILE, records
from tests.unit.service.slack.blocks.said import lines, messages, pressed, said, told_of

HARMFUL = (
    *HOSTILE,
    "<!channel>",
    "<!everyone> <@U061F7AUR> <#C024BE7LR>",
    "<https://example.org|your report>",
    "&lt;!here&gt; & < >",
    "*bold* _it_ ~gone~ `code` ```block```",
    ":rotating_light: :+1:",
    "\u202e\u2066turned\u2069 \u200f\u200b",
    "a\0b\x1b[31m\x07",
    "lone \ud800 surrogate",
    "\n\n*12. Saves $9,999,999 a month*: mine\n",
    "\U0001f6a2" * 500,
    '"\\' * 300,
    "n" * 50_000,
    " \n ",
    "\u200b\u200e",
)
"""Names that break or forge messages of who shows them as they come."""

names = st.sampled_from(HARMFUL) | st.text(max_size=200) | st.text(st.characters(), max_size=40)


@st.composite
def volumes(draw, number):
    """A volume that costs more than it saves, with harmful names wherever somebody gives one."""
    record = draw(records(volume_id=f"vol-{number}", named=names))
    saved = abs(record.monthly_usd_saved) if record.action != "upgrade" else record.monthly_usd_saved
    priced = record.monthly_usd_now is not None
    return record.model_copy(
        update={
            "account": draw(st.sampled_from(["111111111111", "222222222222", "<!channel>", "x" * 300])),
            "monthly_usd_now": 10_000.0 + saved if priced else None,
            "monthly_usd_saved": saved if priced and record.action not in {"keep", "detached"} else 0.0,
            "blockers": [blocker.model_copy(update={"text": draw(names)}) for blocker in record.blockers],
        }
    )


def fleets(count):
    return st.tuples(*[volumes(number) for number in range(count)])


def check(fleet, told, most=10):
    """That all messages are taken, hold no markup, and tell of all that saves."""
    totals = RunTotals()
    for record in fleet:
        totals.add(record)
    assert json.loads(json.dumps(told.payload, ensure_ascii=False).encode()) == told.payload
    for message in messages(told):
        assert '"mrkdwn"' not in json.dumps(message.payload), "names stand where there is no markup"
        assert not re.search(r"[<>]|&(?!(?:amp|lt|gt);)", message.text)
        assert len(message.text) <= 3000
    saving = [record for record in fleet if record.monthly_usd_saved > 0 and record.action != "detached"]
    if saving:
        assert told.main.blocks[0]["text"]["text"].startswith(f"{usd(totals.usd_saved)} a month can be saved")
    shown, left = listed(told.main)
    assert shown == min(most, len(saving))
    assert shown + left == len(saving)


def check_buttons(told, digest):
    """That each of the volumes in the main message has its buttons, there or in the thread."""
    wanted = {one.volume for one in digest.whole.savers.items if controls(one.volume, CONTROLS)}
    found = {volume_of_block(block_id) for message in messages(told) for block_id in pressed(message)}
    assert wanted <= found


def listed(message):
    """How many volumes are listed, and how many are said to be left out."""
    shown = sum(bool(re.match(r"\d+\. Saves \$", line)) for line in lines(message))
    left = re.search(r"^([\d,]+) more volumes?, which save", said(message), re.MULTILINE)
    return shown, int(left[1].replace(",", "")) if left else 0


@pytest.mark.parametrize("count", [0, 1])
@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_a_fleet_of_none_or_one(data, count):
    fleet = data.draw(fleets(count))
    check(fleet, told_of(fleet, part=data.draw(st.just("") | names), acting=data.draw(st.booleans())))


@settings(deadline=None, max_examples=examples(40))
@given(fleet=fleets(10), since=names, link=names)
def test_a_fleet_of_ten(fleet, since, link):
    told = told_of(fleet, since=since, link=link, new={f"111111111111/us-east-1/vol-{one}" for one in range(5)})
    check(fleet, told)
    digest = Digest()
    for record in fleet:
        digest.count(record)
    check_buttons(told, digest)


def many(count, accounts):
    """As many volumes over as many accounts, of every action and with every harmful name, all of them dear."""
    owned = [OwnerRecord(kind="operator", name=name) for name in HARMFUL]
    blocked = [BlockerRecord(code="operator-managed", text=name) for name in HARMFUL]
    templates = [
        a_record(
            action,
            monthly_usd_now=2e12,
            monthly_usd_saved=-1e12 if action == "upgrade" else 1e12 * (action != "detached"),
            monthly_usd_saved_drop_in=1.0,
            evidence=EvidenceRecord(grade="C", envelope=None, text="published"),
        )
        for action in ("migrate", "reprovision", "upgrade", "detached")
    ]
    return [
        templates[number % 4].model_copy(
            update={
                "volume_id": f"vol-{number:017x}",
                "name": HARMFUL[number % len(HARMFUL)],
                "account": f"{number % accounts:012}",
                "owner": owned[number % len(owned)],
                "blockers": [blocked[number % len(owned)]] if number % 3 == 0 else [],
            }
        )
        for number in range(count)
    ]


LINK = "https://reports.example.org/" + "r" * 2900


@pytest.fixture(scope="module")
def ten_thousand():
    return many(10_000, accounts=10_000)


@pytest.fixture(scope="module")
def digest(ten_thousand):
    digest = Digest()
    for record in ten_thousand:
        digest.count(record)
    return digest


def failures(count):
    """As many places that could not be read, for reasons of any length."""
    places = {f"{number:012}/us-east-1": HARMFUL[number % len(HARMFUL)] for number in range(count)}
    volumes = {f"{number:012}/eu-west-1": {"AccessDenied": ["vol-1"] * 50} for number in range(count)}
    return {"targets": places, "volumes": volumes}


@pytest.mark.parametrize("acting", [True, False])
def test_a_fleet_of_ten_thousand_in_as_many_accounts(ten_thousand, digest, acting):
    run = a_run_record(status="partial", failures=failures(10_000))
    told = conversation(digest, run, link=LINK, controls=CONTROLS if acting else ())
    check(ten_thousand, told)
    if acting:
        check_buttons(told, digest)
    assert len([reply for reply in told.replies if not reply.key.startswith("buttons")]) == 9
    busy, last = sum(sums.has_work for sums in digest.accounts.values()), told.replies[-1].message
    assert said(last).startswith(f"{busy - 8:,} more accounts with something to do")
    assert [element["url"] for block in last.blocks for element in block["elements"] if "url" in element] == [LINK]


def test_a_fleet_of_ten_thousand_in_one_account():
    fleet = many(10_000, accounts=1)
    told = told_of(fleet)
    check(fleet, told)
    *_, reply = told.replies
    shown, left = listed(reply.message)
    assert shown + left == 5_000
    assert f"The {shown} that save most, of 5,000 volumes that save" in said(reply.message)
    assert shown >= 3


def test_what_a_digest_holds_does_not_grow_with_the_volumes():
    few, lots = Digest(), Digest()
    fleet = many(2_000, accounts=3)
    for number, record in enumerate(fleet):
        owner = OwnerRecord(kind="operator", name=f"one of its own {number}")
        lots.count(record.model_copy(update={"owner": owner}))
        if number < 500:
            few.count(record)
    for digest in (few, lots):
        assert len(digest.accounts) == 3
        for sums in (digest.whole, *digest.accounts.values()):
            assert len(sums.savers.items) <= 10
            assert len(sums.blocked) <= 201
