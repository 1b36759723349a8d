"""What a validation of the service measures: one volume, or the thin evidence of a run within the budget."""

import json
from dataclasses import replace

import pytest

from plimsoll.model.errors import AccessDenied, BadInput
from plimsoll.ports import FailedTarget, Target
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER
from plimsoll_measure.validation.job import JobName, job_document
from plimsoll_service.choosing import choose_volumes
from plimsoll_service.shared_measurements import StoreVerdicts
from plimsoll_service.streams import json_array
from plimsoll_service.validation_messages import ChooseMessage
from tests.builders import a_host, a_volume

from .lab import Lab, work
from .stepping import LabPlaces, Stepping
from .test_stripe_sets import answers

HERE = "111122223333/us-east-1"


def two_classes(folder, **facts):
    """Thirty volumes of one class, and one of another that has more at stake."""
    small = [a_volume("gp2", 400 + number, id=f"vol-{number}", on=a_host(id=f"i-{number}")) for number in range(30)]
    large = a_volume("gp2", 16_000, id="vol-large", on=a_host(id="i-large"))
    return Lab(folder, *small, large, work_of={"vol-large": work(6000.0, 150.0)}, **facts)


def with_report(stepping, run_id="run-1"):
    lab = stepping.lab
    records = [
        record_of(one.recommendation, provider=FIRST_PROVIDER).model_dump(mode="json")
        for one in answers(lab.ports, lab.policy).values()
    ]
    stepping.store.put_pieces(
        f"reports/{run_id}/recommendations.json", json_array(json.dumps(one).encode() for one in records)
    )
    stepping.store.put(f"reports/{run_id}/run.json", b"{}")
    return stepping


def chosen(stepping, **given):
    return choose_volumes(stepping.service, ChooseMessage(name="v", given=given))


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A service with the report of a run of two classes; nothing is measured in it."""
    return with_report(Stepping(lab=two_classes(tmp_path_factory.mktemp("reported"))))


def test_a_volume_is_found_in_whichever_place_it_is_or_taken_where_it_is_said_to_be(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path))
    for name in ("vol-1", f"{HERE}/vol-1"):
        (item,) = chosen(stepping, volume_id=name).items
        assert f"{item.account}/{item.region}/{item.volume_id}" == f"{HERE}/vol-1"
        assert (item.target, item.mode.value) == (None, "canary")


def test_a_volume_that_is_nowhere_is_said_so_or_why_it_could_not_be_looked_for(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path))
    with pytest.raises(BadInput, match="there is no volume vol-2 in the accounts and regions of this service"):
        chosen(stepping, volume_id="vol-2")

    class Closed(LabPlaces):
        def accounts(self):
            return ["222222222222", *super().accounts()]

        def targets(self, account):
            if account == "222222222222":
                return [FailedTarget(name=account, error=AccessDenied("cannot enter 222222222222."))]
            return super().targets(account)

    closed = Closed(lab=stepping.lab)
    service = replace(stepping.service, places=closed)
    with pytest.raises(AccessDenied, match="cannot enter"):
        choose_volumes(service, ChooseMessage(name="v", given={"volume_id": "vol-2"}))
    assert choose_volumes(service, ChooseMessage(name="v", given={"volume_id": "vol-1"})).items


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": "gp9:3000"}, "there is no volume type gp9"),
        ({"target": "gp3:many"}, "must be TYPE"),
        ({"target": "gp3:1"}, "IOPS must be from 3,000"),
        ({"target": "gp3", "mode": "in-place"}, "measures the volume's present configuration: leave out target"),
    ],
)
def test_a_target_that_no_volume_can_have_is_refused_before_anything_is_looked_for(given, said, tmp_path):
    with pytest.raises(BadInput, match=said):
        chosen(Stepping(lab=Lab(tmp_path)), volume_id="vol-1", **given)


def test_a_run_that_there_is_not_is_said_so(tmp_path):
    with pytest.raises(BadInput, match="there is no run run-2 with a report"):
        chosen(Stepping(lab=Lab(tmp_path)), run_id="run-2")


def test_a_run_is_validated_class_by_class_those_with_the_most_at_stake_first(reported):
    found = chosen(reported, run_id="run-1")
    assert found.items[0].volume_id == "vol-large"
    assert found.left_out == 0
    works = [
        job_document(JobName(validation="v", index=index)).require(reported.store) for index in range(len(found.items))
    ]
    served = [len(one.following.wants) for one in works]
    assert sum(served) == 31
    assert [one.place for one in works] == [Target(account="111122223333", region="us-east-1")] * len(works)


def test_a_budget_chooses_and_what_is_left_of_it_is_parted_so_that_together_they_keep_to_it(reported):
    everything = len(chosen(reported, run_id="run-1").items)
    reported.bounds = {"max_runs": 1, "max_usd": 1.0}
    only = chosen(reported, run_id="run-1")
    assert [item.volume_id for item in only.items] == ["vol-large"]
    assert only.left_out == everything - 1
    reported.bounds = {"max_runs": everything + 1, "max_usd": 1.0}
    works = [
        job_document(JobName(validation="v", index=index)).require(reported.store)
        for index in range(len(chosen(reported, run_id="run-1").items))
    ]
    assert sum(one.budget.max_runs for one in works) == everything + 1
    assert works[0].budget.max_runs == 2
    assert sum(one.budget.max_usd for one in works) == pytest.approx(1.0)
    reported.bounds = {"max_usd": 0.0}
    assert chosen(reported, run_id="run-1").items == []


def test_a_run_of_a_class_serves_all_of_it(tmp_path):
    volumes = [a_volume("gp2", 400 + number, id=f"vol-{number}", on=a_host(id=f"i-{number}")) for number in range(9)]
    stepping = with_report(Stepping(lab=Lab(tmp_path, *volumes)))
    (done,) = stepping.validate(run_id="run-1")
    (line,) = StoreVerdicts(stepping.store).lines()
    assert sorted(line.serves) == sorted(volume.id for volume in volumes)
    assert line.passed
    assert done.after.evidence.grade == "A"
    assert with_report(stepping, "run-2").validate("again", run_id="run-1")[0].tried == done.tried, "as it was asked"


def test_no_budget_measures_nothing_and_says_so(tmp_path):
    stepping = Stepping(lab=Lab(tmp_path), bounds={"max_usd": 0.0})
    (done,) = stepping.validate()
    assert done.note.startswith("nothing was measured: the budget allows no run of it")
    assert "create" not in stepping.lab.bench.calls
    assert not stepping.claims.held
