"""Audits, validations and probes that the version before has begun are finished after an upgrade, or refused by name.

`version_before.json` has the documents that version 264fd7c8 left in its store (the last one whose totals knew the one
cost `detached`): of an audit whose shards are combined, of a validation before each of its steps, and of a probe. `run`
is what it then said of the audit.
"""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from plimsoll.jobs.document import StoredDocument
from plimsoll.model.errors import BadInput
from plimsoll.reports.totals import RunTotals
from plimsoll_measure.validate import ConcludedRun
from plimsoll_measure.validation.job import JobName, JobStep, job_document
from plimsoll_service.probing import BeginProbeMessage, ProbeMessage, begin_probe, look_at_probe
from plimsoll_service.stored_results import ListedTarget
from tests.builders import NOW, a_host, a_volume
from tests.functions.test_probe import Probing
from tests.pipelines.lab import Lab, the
from tests.pipelines.test_probe import Lab as ProbeLab
from tests.service_loop import Loop, files, run_json
from tests.unit.measure.validation.test_killed_job import BEGUN, is_clean, killed_before
from tests.unit.service.places import ACCOUNT, places_of, service_of, volumes

BEFORE = json.loads((Path(__file__).parent / "version_before.json").read_text(encoding="utf-8"))
VOLUMES = [*volumes(1), a_volume("gp2", 100, id="vol-us-east-1-900", on=[], region="us-east-1", account=ACCOUNT)]

GONE = {
    "after its shards were combined": (),
    "after its batches were answered": ("/shards",),
    "after its inventory was taken": ("/shards", "/results/"),
    "after its accounts were listed": ("/shards", "/results/", "/inventory/", "/whole"),
}


def a_loop(folder):
    return Loop(service=service_of(places_of(VOLUMES), folder), now=NOW, batch_volumes=2)


@pytest.mark.parametrize("gone", GONE.values(), ids=GONE)
def test_an_audit_that_was_begun_ends_with_the_sums_of_the_version_before(gone, tmp_path):
    loop = a_loop(tmp_path)
    for key, content in BEFORE["audit"].items():
        if not any(part in key for part in gone):
            loop.service.store.put(key, content.encode())
    loop.run(run_id="first")
    run = run_json(files(loop.service, "first"))
    assert {key: run[key] for key in ("actions", "monthly_usd", "detached")} == {
        key: BEFORE["run"][key] for key in ("actions", "monthly_usd", "detached")
    }
    assert BEFORE["run"]["volumes"].items() <= run["volumes"].items()


def test_sums_of_the_one_cost_of_before_are_sums_of_that_kind_at_every_depth():
    part = {"detached_cents": 500, "actions": {"detached": 1}}
    plain = {**part, "detached": {"by hand": {"2025": [1, 500]}}, "by": {"step": {"detached": part}}}
    totals = RunTotals.parse(plain)
    assert (totals.usd_cost("detached"), totals.by["step"]["detached"].usd_cost("detached")) == (5.0, 5.0)
    assert totals.summary()["detached"] == [{"owner": "by hand", "made": 2025, "volumes": 1, "monthly_usd": 5.0}]
    assert RunTotals.parse(totals.plain) == totals


def without_words(job):
    """A job without the reasons of its recommendation, which each version says in its own words."""
    return replace(job, before=job.before.model_copy(update={"reasons": ()}))


@pytest.mark.parametrize("step", BEGUN)
def test_a_validation_that_was_begun_ends_in_its_verdict(step, tmp_path):
    lab = Lab(tmp_path)
    killed = killed_before(lab, step)
    lab.context.jobs.put(killed.name.key, BEFORE["validation"][step.value].encode())
    assert without_words(job_document(killed.name).require(lab.context.jobs)) == without_words(killed)
    line = the(ConcludedRun, lab.validate()).line
    assert (line.passed, line.id) == (True, f"{killed.name.scratch_id}-1")
    assert (lab.bench.calls["create"], lab.bench.calls["send"]) == (1, 1)
    assert is_clean(lab)


def test_a_probe_that_was_begun_ends_with_what_its_host_saw(tmp_path):
    volume = a_volume("gp3", 100, id=f"vol-{0:017x}", on=a_host(id="i-1"))
    probing = Probing(ProbeLab(tmp_path, volume), tmp_path)
    message = {"name": "p", "input": {"volume_ids": [volume.id], "seconds": 600}}
    begin_probe(probing.service, BeginProbeMessage.model_validate(message))
    for key, content in BEFORE["probe"].items():
        assert json.loads(content).items() <= json.loads(probing.service.store.get(key)).items()
        probing.service.store.put(key, content.encode())
    while (state := look_at_probe(probing.service, ProbeMessage(probe="p"))).reading:
        probing.lab.clock.time += timedelta(seconds=60)
    assert (state.seen, state.not_seen) == ((f"{volume.account}/{volume.region}/{volume.id}",), ())
    assert not list(probing.service.store.keys("probes/under-way/"))


@pytest.mark.parametrize("content", [b'{"target": 1}', b"{"])
def test_a_probe_that_cannot_be_read_is_named_and_not_taken_for_one_that_has_ended(content, tmp_path):
    volume = a_volume("gp3", 100, id=f"vol-{0:017x}", on=a_host(id="i-1"))
    probing = Probing(ProbeLab(tmp_path, volume), tmp_path)
    message = {"name": "p", "input": {"volume_ids": [volume.id], "seconds": 600}}
    begin_probe(probing.service, BeginProbeMessage.model_validate(message))
    (key,) = probing.service.store.keys("probes/under-way/")
    probing.service.store.put(key, content)
    state = look_at_probe(probing.service, ProbeMessage(probe="p"))
    assert (state.reading, state.seen) == (0, ())
    (text,) = state.not_seen
    assert text.startswith(f"volumes on i-1: the probe {key} cannot be read")


@pytest.mark.parametrize("content", [b'{"batches": 1}', b"{", b"null"])
def test_what_another_version_wrote_otherwise_is_refused_by_name(content, tmp_path):
    loop = a_loop(tmp_path)
    document = StoredDocument("work/first/listed.json", ListedTarget)
    assert document.get(loop.service.store) is None
    loop.service.store.put(document.key, content)
    with pytest.raises(BadInput, match=r"the document work/first/listed\.json cannot be read \(.+\): .*new audit"):
        document.require(loop.service.store)
    assert document.find(loop.service.store) is None


def test_what_is_gone_is_refused_by_name(tmp_path):
    with pytest.raises(BadInput, match=r"there is no job validations/v/0\.json in the store: begin a new validation"):
        job_document(JobName(validation="v", index=0)).require(a_loop(tmp_path).service.store)
    assert JobStep.DONE not in BEGUN
