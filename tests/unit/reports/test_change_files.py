"""The changes of a run as files: one for each step, tool, account and region, with its way back, and their order."""

import os
import subprocess
from dataclasses import asdict

import kubernetes_validate
import pytest
import yaml

from plimsoll.clouds.aws.catalog import AwsCatalog
from plimsoll.decide.answer import StepKind, command_step
from plimsoll.model.volume import Owner, OwnerKind, VolumeSpec
from plimsoll.reports.answers import steps_text
from plimsoll.reports.change_files import CHANGED_IN, ORDER, TOOLS, change_note, file_name, write_changes
from plimsoll.reports.record import BlockerRecord, ChangeStepRecord, LossRecord, OwnerRecord
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.templates import template_texts
from tests.builders import a_volume
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record, a_risk
from tests.unit.reports.strategies import HOSTILE

ACCOUNT, OTHER = "111111111111", "222222222222"


def owned(kind, number, action="migrate", **fields):
    owner = OwnerRecord(kind=kind, name="net")
    texts = {"change": f"change {number}", "way_back": f"back {number}", "account": ACCOUNT, "region": "us-east-1"}
    return a_record(action, volume_id=f"vol-{number}", owner=owner, **(texts | fields))


def safe(number, usd=10.0, **fields):
    """A change that needs no proof: no limit is lowered, and nothing is given up."""
    kept = {"cuts": [], "losses": [], "monthly_usd_saved": usd, "monthly_usd_saved_drop_in": usd}
    return owned("hand", number, **(kept | fields))


def proved(number, **fields):
    return owned("hand", number, cuts=["IOPS"], risk=a_risk(2.0), **fields)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_every_kind_of_owner_has_a_name_in_files_of_its_own():
    assert set(TOOLS) == {kind.value for kind in OwnerKind}
    assert len({tool.slug for tool in TOOLS.values()}) == len(TOOLS)


def test_no_file_mixes_steps_tools_accounts_or_regions(tmp_path):
    places = [(account, region) for account in (ACCOUNT, OTHER) for region in ("us-east-1", "eu-west-1")]
    records = [
        owned(kind, f"{action}-{kind}-{at}", action, account=account, region=region)
        for action in ("migrate", "upgrade", "reprovision")
        for kind in TOOLS
        for at, (account, region) in enumerate(places)
    ]
    write_changes(records, tmp_path)
    texts = contents(tmp_path)
    for record in records:
        tool, step = TOOLS[record.owner.kind], step_of(record)
        name = file_name(step, tool, record.account, record.region)
        assert f"\n{record.change}\n" in texts[name]
        back = file_name(step, tool, record.account, record.region, back=True)
        assert f"\n{record.way_back}\n" in texts[back]
        assert sum(f"\n{record.change}\n" in text for text in texts.values()) == 1
        assert sum(f"\n{record.way_back}\n" in text for text in texts.values()) == 1
    assert {step_of(record) for record in records} <= set(CHANGED_IN)
    assert len(texts) == 1 + 2 * len({(step_of(r), r.owner.kind, r.account, r.region) for r in records})


def claims(count):
    """Records of claims that two configurations are enough for, with their steps as AWS gives them."""
    for number in range(count):
        details = {"claim": f"pg-{number}", "namespace": "shop", "persistent_volume": f"pvc-{number}"}
        volume = a_volume(id=f"vol-{number}", owner=Owner(kind=OwnerKind.KUBERNETES, name="net", details=details))
        found = AwsCatalog().change(volume, VolumeSpec(type="gp3", size_gib=500, iops=3000, throughput_mib_s=125))
        steps = [ChangeStepRecord.model_validate(asdict(step)) for step in found.forth]
        yield owned("kubernetes", number, change=steps_text(found.forth), change_steps=steps)


def test_each_configuration_of_claims_is_one_manifest_and_each_claim_one_patch_in_its_namespace(tmp_path):
    written = write_changes(claims(3), tmp_path)
    manifests = {path.name: yaml.safe_load(path.read_text()) for path in written if path.suffix == ".yaml"}
    assert {name: one["metadata"]["name"] for name, one in manifests.items()} == {
        "manifest-plimsoll-gp2.yaml": "plimsoll-gp2",
        "manifest-plimsoll-gp3-3000-125.yaml": "plimsoll-gp3-3000-125",
    }
    for manifest in manifests.values():
        kubernetes_validate.validate(manifest, "1.34", strict=True)
    assert all(name in (tmp_path / ORDER).read_text() for name in manifests)
    (text,) = [
        path.read_text()
        for path in written
        if path.suffix == ".txt" and "-kubernetes-111111111111-us-east-1.txt" in path.name
    ]
    assert [f"kubectl -n shop patch pvc pg-{number} " in text for number in range(3)] == [True] * 3
    assert write_changes([], tmp_path) == []
    assert contents(tmp_path) == {}


@pytest.mark.needs("shellcheck")
@pytest.mark.parametrize("kind", list(OwnerKind))
@pytest.mark.parametrize("back", [False, True])
def test_what_can_be_pasted_is_a_shells_script_for_every_owner(tmp_path, kind, back):
    for volume in (
        a_volume("gp2", 500, owner=Owner(kind=kind, name="it's $(reboot)")),
        a_volume("gp2", 500, owner=Owner(kind=kind, name="a\nb", details={"claim": "c d", "namespace": "$x"})),
    ):
        found = AwsCatalog().change(volume, VolumeSpec(type="gp3", size_gib=520, iops=3000, throughput_mib_s=125))
        steps = found.back if back else found.forth
        if any(step.kind is StepKind.EDIT for step in steps):
            assert kind in {
                OwnerKind.CLOUDFORMATION, OwnerKind.TERRAFORM, OwnerKind.AUTO_SCALING, OwnerKind.OPERATOR,
            }  # fmt: skip
            continue
        script = tmp_path / "change.sh"
        script.write_text(f"#!/bin/sh\n{steps_text(steps)}\n")
        # SC2016: no name may expand, which is why it stands in single quotes.
        checked = subprocess.run(
            ["shellcheck", "--exclude=SC2016", str(script)], check=False, capture_output=True, text=True
        )
        assert checked.returncode == 0, checked.stdout


def test_several_commands_stop_at_the_first_that_fails_and_so_does_the_script_around_them(tmp_path):
    done = tmp_path / "done"
    script = tmp_path / "change.sh"
    group = steps_text([command_step("false"), command_step(f"touch {done}")])
    script.write_text(f"set -eu\n{group}\ntouch {done}\n")
    assert subprocess.run(["sh", str(script)], check=False).returncode != 0
    assert not done.exists()
    subprocess.run(["sh", "-c", group], check=False)
    assert not done.exists()


def test_the_order_names_every_file_once_by_step_and_money(tmp_path):
    records = [safe(1, 5.0), safe(2, 50.0, account=OTHER), owned("hand", 3, "upgrade")]
    write_changes(records, tmp_path, profiles=["storage"])
    lines = (tmp_path / ORDER).read_text().splitlines()
    named = [line for line in lines if line.endswith(".sh") and not line.startswith(" ")]
    assert named == [
        file_name(Step.SAFE, TOOLS["hand"], OTHER, "us-east-1"),
        file_name(Step.SAFE, TOOLS["hand"], ACCOUNT, "us-east-1"),
        file_name(Step.THROTTLED, TOOLS["hand"], ACCOUNT, "us-east-1"),
    ]
    assert f"  AWS_PROFILE=storage sh {named[0]}" in lines


def test_without_one_profile_the_order_asks_for_that_of_the_account(tmp_path):
    write_changes([safe(1)], tmp_path, profiles=["one", "two"])
    assert f"AWS_PROFILE=PROFILE_OF_{ACCOUNT} sh " in (tmp_path / ORDER).read_text()


def test_in_a_file_the_change_that_saves_most_comes_first_and_says_what_it_saves_and_risks(tmp_path):
    records = [safe(number, usd) for number, usd in ((1, 5.0), (2, 50.0), (3, 7.5))]
    write_changes(records, tmp_path)
    lines = (tmp_path / file_name(Step.SAFE, TOOLS["hand"], ACCOUNT, "us-east-1")).read_text().splitlines()
    assert [line for line in lines if line.startswith("change ")] == ["change 2", "change 3", "change 1"]
    for record in records:
        above = lines[lines.index(record.change) - 1]
        assert above == f"# {change_note(record)}"
        assert record.volume_id in above
        assert f"saves ${record.monthly_usd_saved:,.2f} a month" in above
        assert "no limit is lowered" in above


def test_the_line_above_a_change_says_its_risk_and_its_losses():
    loss = LossRecord(code="durability", now="99.999 %", then="99.8 %")
    assert "risk at most 2 % of over 15 throttled minutes" in change_note(proved(1))
    assert "risk not known" in change_note(proved(1).model_copy(update={"risk": None}))
    assert "99.999 %" in change_note(safe(1, losses=[loss]))
    assert "gives up" not in change_note(safe(1, losses=[]))


def test_what_is_blocked_kept_or_waits_has_no_file_and_earlier_files_are_gone(tmp_path):
    write_changes([safe(1)], tmp_path)
    (tmp_path / "mine.sh").write_text("echo mine\n")
    blocked = owned("terraform", 1, blockers=[BlockerRecord(code="state", text="it is being changed")])
    assert write_changes([blocked, a_record("keep", change=""), a_record("wait")], tmp_path) == []
    assert set(contents(tmp_path)) == {"mine.sh"}


@pytest.mark.parametrize(
    ("provider", "tool", "answers", "code"),
    [
        ("aws", "aws", ACCOUNT, 0),
        ("aws", "aws", OTHER, 1),
        ("aws", "aws", None, 1),
        ("google", "gcloud", "shop-prod", 0),
        ("google", "gcloud", "another", 1),
        ("google", "gcloud", None, 1),
    ],
)
@pytest.mark.parametrize("back", [False, True])
def test_a_script_changes_nothing_in_another_account(tmp_path, provider, tool, answers, code, back):
    done = tmp_path / "done"
    fake = tmp_path / "bin" / tool
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{'exit 1' if answers is None else f'echo {answers}'}\n")
    fake.chmod(0o700)
    account = ACCOUNT if provider == "aws" else "shop-prod"
    texts = {"change": f"touch {done}", "way_back": f"touch {done}", "provider": provider, "account": account}
    write_changes([safe(1, **texts)], tmp_path / "out")
    script = tmp_path / "out" / file_name(Step.SAFE, TOOLS["hand"], account, "us-east-1", back=back)
    ended = subprocess.run(
        ["sh", str(script)], check=False, env={"PATH": f"{fake.parent}:{os.environ['PATH']}"}, capture_output=True
    )
    assert (ended.returncode != 0) == (code != 0)
    assert done.exists() == (code == 0)


def test_a_script_stops_at_the_first_change_that_fails(tmp_path):
    changes = ((9.0, "false"), (1.0, f"touch {tmp_path}/done"))
    records = [safe(at, usd, change=change, provider="third") for at, (usd, change) in enumerate(changes)]
    write_changes(records, tmp_path / "out")
    script = tmp_path / "out" / file_name(Step.SAFE, TOOLS["hand"], ACCOUNT, "us-east-1")
    assert subprocess.run(["sh", str(script)], check=False).returncode != 0
    assert not (tmp_path / "done").exists()


def test_no_name_becomes_a_command_of_the_script_or_a_place_outside_its_folder(tmp_path):
    records = [
        safe(1, name=f"{name}\ntouch {tmp_path}/broken", change=":", way_back=":", provider="third", region=name)
        for name in (*HOSTILE, "../..")
    ]
    written = write_changes(records, tmp_path / "out")
    assert all(path.parent == tmp_path / "out" for path in written)
    for script in written:
        if script.suffix == ".sh":
            subprocess.run(["sh", str(script)], check=True)
            lines = script.read_text().splitlines()
            assert all(line in {"", ":", "set -eu"} or line.startswith("#") for line in lines)
    assert not (tmp_path / "broken").exists()


def test_a_run_of_an_earlier_version_has_its_changes_and_says_that_no_way_back_was_kept(tmp_path):
    write_changes([safe(1, way_back="")], tmp_path)
    back = tmp_path / file_name(Step.SAFE, TOOLS["hand"], ACCOUNT, "us-east-1", back=True)
    assert "audit again" in back.read_text()


def test_a_template_has_one_change_in_the_words_of_whoever_owns_it_and_no_file_mixes_accounts(tmp_path):
    makers = {"auto-scaling": "  Iops: 3000", "kubernetes": '  iops: "3000"', "terraform": "  iops = 3000"}
    run = a_run_record(
        templates=[
            {
                "provider": "aws", "account": account, "region": "us-east-1", "kind": kind, "template": "web",
                "device": "/dev/xvda", "type": "gp2", "volumes": 20, "example": "vol-1",
                "target": {"type": "gp3", "iops": 3000, "throughput_mib_s": None},
                "monthly_usd_saved": 3.2, "monthly_usd_saved_beyond_volumes": 3.2,
            }
            for account in (ACCOUNT, OTHER)
            for kind in makers
        ]
    )  # fmt: skip
    texts = list(template_texts(run))
    for one in texts:
        assert makers[one.kind] in one.how.splitlines()
        assert len(one.how.splitlines()) == 3
    files = [path for path in write_changes([], tmp_path, texts) if path.name != ORDER]
    assert len(files) == len(texts)
    for one in texts:
        (file,) = [path for path in files if TOOLS[one.kind].slug in path.name and one.where.split("/")[0] in path.name]
        assert one.how in file.read_text()
        assert file.name in (tmp_path / ORDER).read_text()
