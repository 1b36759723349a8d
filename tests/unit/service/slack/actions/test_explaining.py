"""The story of one volume in Slack: as other reports tell it, within what a window holds."""

import json
from dataclasses import replace

import pytest

from plimsoll.clouds.probe_book import ProbeLine
from plimsoll.clouds.stripe_book import sets_adapter
from plimsoll.decide.groups import StripeSet
from plimsoll.model.errors import AccessDenied
from plimsoll.ports import Target
from plimsoll.reports.run_reader import stream_unanswered
from plimsoll.reports.story import Note, Topic
from plimsoll_measure.bench.probe.answer import read_probe
from plimsoll_service.probing import StoredProbes
from plimsoll_service.slack.actions.action import VolumeExplanation
from plimsoll_service.slack.actions.explain import explanation_blocks
from plimsoll_service.slack.blocks.story import story_blocks
from tests.builders import NOW
from tests.pipelines.test_probe import told_of
from tests.service_loop import Loop, files
from tests.slack.limits import check_view
from tests.unit.service.projects import THERE, both, disks

from .asking import PLACE, VOLUME, a_volume, a_workplace, told


def test_the_story_is_in_the_view_with_how_to_change_it(tmp_path):
    with a_workplace(tmp_path) as workplace:
        place, view = workplace.view()
        workplace.ask("explain", place=place)
        said = told(view())
        for words in (
            VOLUME,
            "answer: migrate to gp3 500 GiB",
            "how to change it",
            "peak; IOPS",
            "why this and not another",
            "way back",
        ):
            assert words in said
        assert workplace.replies == []


def test_what_a_probe_saw_of_the_volume_is_on_the_screen(tmp_path):
    with a_workplace(tmp_path) as workplace:
        account, region = PLACE.split("/")
        told_by_host = {"plimsoll": 1, "mode": "probe", "began_s": 0, "volumes": [told_of(VOLUME)], "absent": []}
        (found,), _ = read_probe(json.dumps(told_by_host, separators=(",", ":")))
        line = ProbeLine(account=account, region=region, host_id="i-1", seen=found)
        StoredProbes(store=workplace.service.store).add(line)
        workplace.ask("explain")
        assert "busiest second: 8,000 IOPS" in "".join(workplace.replies)


def test_without_a_view_it_is_in_the_thread(tmp_path):
    with a_workplace(tmp_path) as workplace:
        workplace.ask("explain")
        assert "answer: migrate" in workplace.replies[0]


def test_a_disks_demand_is_linked_to_where_its_own_cloud_shows_it(tmp_path):
    (disk,) = disks(1)
    with a_workplace(tmp_path) as workplace:
        workplace.service = replace(workplace.service, places=both())
        place, view = workplace.view()
        workplace.ask("explain", volume=f"{THERE}/{disk.id}", place=place)
        assert "see it in Cloud Monitoring" in told(view())


def test_a_volume_that_is_gone_or_left_out_or_cannot_be_read_says_so_in_the_view(tmp_path):
    with a_workplace(tmp_path, a_volume(), a_volume("vol-out")) as workplace:
        workplace.ask("exclude", volume=f"{PLACE}/vol-out", reason="license")
        place, view = workplace.view()
        for volume, words in (
            (f"{PLACE}/vol-gone", "there is no volume vol-gone"),
            (f"{PLACE}/vol-out", "vol-out is left out: excluded by slack:T0PLIMSOLL/U0ANNA: license."),
            (f"{PLACE}/vol-out", f" /plimsoll include {PLACE}/vol-out includes it again."),
        ):
            workplace.ask("explain", volume=volume, place=place)
            assert words in told(view())
        account, region = PLACE.split("/")
        workplace.service.places.locked[Target(account=account, region=region)] = AccessDenied("cannot enter there.")
        with pytest.raises(AccessDenied):
            workplace.ask("explain", place=place)
        assert "cannot enter there." in told(view())


def test_a_view_that_was_closed_meanwhile_wants_no_answer(tmp_path):
    with a_workplace(tmp_path) as workplace:
        workplace.ask("explain", place={"view": "V0CLOSED"})
        assert workplace.replies == []


def test_one_of_a_stripe_set_is_held_back_by_another_that_somebody_excluded_as_in_an_audit(tmp_path):
    account, region = PLACE.split("/")
    host = a_volume().hosts[0]
    both = StripeSet(
        name="md0",
        account=account,
        region=region,
        host_id=host.id,
        members=(VOLUME, "vol-out"),
        level="raid0",
        found=NOW.date(),
    )
    with a_workplace(tmp_path, a_volume(), a_volume("vol-out")) as workplace:
        workplace.service.store.put("measured/stripes.json", sets_adapter().dump_json([both]))
        workplace.ask("exclude", volume=f"{PLACE}/vol-out", reason="license")
        place, view = workplace.view()
        workplace.ask("explain", place=place)
        said = " ".join(told(view()).split())
        assert "answer: keep" in said
        assert "held back by vol-out (it is excluded by" in said


def whole(*lines):
    story = (Note(topic=Topic.WHY, title="why", lines=lines), Note(topic=Topic.CHANGE, lines=(), copy="\n".join(lines)))
    return explanation_blocks(VolumeExplanation(volume_id=VOLUME, story=tuple(story_blocks(story))))


def test_a_story_of_any_length_is_a_view_that_slack_takes():
    for lines in ((), ("x" * 20_000,), ("a line",) * 30_000, ("\u0000\u202e" * 5000, "")):
        blocks = whole(*lines)
        view = {
            "type": "modal",
            "title": {"type": "plain_text", "text": "Explain"},
            "blocks": blocks,
        }
        check_view(view)
        assert len(json.dumps(view)) < 250_000
    assert "plimsoll explain" in json.dumps(whole(*["a line"] * 30_000)[-1])


def test_an_excluded_volume_has_no_answer_in_an_audit_until_it_is_taken_in_again(tmp_path):
    with a_workplace(tmp_path, a_volume(), a_volume("vol-out")) as workplace:
        workplace.ask("exclude", volume=f"{PLACE}/vol-out", reason="license")
        loop = Loop(service=workplace.service, now=NOW)
        loop.run("first")
        run = workplace.stored("reports/first/run.json")
        assert run["volumes"]["skipped"] == {"excluded by somebody": 1}
        assert (run["volumes"]["answered"], run["volumes"]["reconciled"]) == (1, True)
        (left_out,) = stream_unanswered(files(workplace.service, "first"))
        assert left_out.reason == "excluded by slack:T0PLIMSOLL/U0ANNA: license"
        assert run["plan"]["volumes"] == 2, "it loads the host of the other, and is read for that"
        workplace.ask("include", volume=f"{PLACE}/vol-out")
        loop.run("second")
        assert workplace.stored("reports/second/run.json")["volumes"]["answered"] == 2


@pytest.fixture
def named(tmp_path):
    """A workplace with a report of four volumes, of which two are called alike."""
    names = {VOLUME: "ledger-db", "vol-two": "Orders DB: primary", "vol-three": "logs", "vol-threes": "logs"}
    with a_workplace(
        tmp_path, *(replace(a_volume(volume_id), tags={"Name": name}) for volume_id, name in names.items())
    ) as found:
        Loop(service=found.service, now=NOW).run("first")
        yield found


@pytest.mark.parametrize(
    ("word", "volume_id"),
    [
        ("ledger-db", VOLUME),
        (f"{PLACE}/ledger-db", VOLUME),
        ("Orders DB:  primary", "vol-two"),
        ("Orders DB…", "vol-two"),
        ("vol-tw", "vol-two"),
        ("vol-three", "vol-three"),
    ],
)
def test_a_volume_is_found_by_what_the_command_line_takes(named, word, volume_id):
    place, view = named.view()
    named.ask("explain", volume=word, place=place)
    assert "answer: migrate" in told(view())
    named.ask("validate", volume=word, request="by-name")
    assert named.begun("validation") == {"slack-by-name": {"volume_id": f"{PLACE}/{volume_id}"}}


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("logs", f"logs may be 2 volumes: give {PLACE}/vol-three (logs) or {PLACE}/vol-threes (logs)."),
        ("nobodys", "there is no volume nobodys in the latest report: give its id."),
        ("legder-db", f"there is no volume legder-db in the latest report: did you mean ledger-db ({VOLUME})?"),
        (f"{VOLUME[:-1]}9", f"in the accounts of this service: did you mean {VOLUME}?"),
    ],
)
def test_a_name_that_nobody_or_several_have_begins_nothing(named, word, words):
    named.ask("validate", volume=word)
    assert named.begun("validation") == {}
    assert words in named.quietly[-1]


def test_without_a_report_only_ids_are_known(tmp_path):
    with a_workplace(tmp_path, replace(a_volume(), tags={"Name": "ledger-db"})) as workplace:
        workplace.ask("explain", volume="ledger-db")
        assert "there is no report yet" in workplace.quietly[-1]
        workplace.ask("explain", volume=VOLUME)
        assert "answer: migrate" in workplace.replies[0]
