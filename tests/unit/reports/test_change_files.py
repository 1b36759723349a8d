"""The changes of a run as files: one for each tool, each volume's change once, and nothing that is blocked."""

import subprocess

from plimsoll.domain.volume import OwnerKind
from plimsoll.reports.change_files import HEAD, TEMPLATES, TOOLS, write_changes
from plimsoll.reports.record import BlockerRecord, OwnerRecord
from plimsoll.reports.template_text import template_texts
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.strategies import HOSTILE


def owned(kind, number, **fields):
    owner = OwnerRecord(kind=kind, name="net")
    return a_record(volume_id=f"vol-{number}", owner=owner, change=f"change {number}", **fields)


def test_every_kind_of_owner_has_a_file_of_its_own():
    assert set(TOOLS) == {kind.value for kind in OwnerKind}
    assert len({tool.file for tool in TOOLS.values()}) == len(TOOLS)


def test_each_change_is_in_the_file_of_its_tool_under_its_volume(tmp_path):
    records = [owned(kind, number) for number, kind in enumerate([*TOOLS, *TOOLS])]
    written = write_changes(records, tmp_path)
    assert {path.name for path in written} == {tool.file for tool in TOOLS.values()}
    for record in records:
        text = (tmp_path / TOOLS[record.owner.kind].file).read_text()
        assert text.startswith(HEAD)
        above, _ = text.split(f"\n{record.change}\n")
        assert above.splitlines()[-1].startswith("# ")
        assert record.volume_id in above.splitlines()[-1]


def test_what_is_blocked_or_needs_no_change_has_no_file(tmp_path):
    blocked = owned("terraform", 1, blockers=[BlockerRecord(code="state", text="it is being changed")])
    assert write_changes([blocked, a_record("keep", change="")], tmp_path) == []
    assert not list(tmp_path.iterdir())


def test_no_name_becomes_a_command_of_the_script(tmp_path):
    records = [owned("hand", 1, name=f"{name}\ntouch {tmp_path}/broken") for name in HOSTILE]
    records = [record.model_copy(update={"change": ":"}) for record in records]
    (script,) = write_changes(records, tmp_path / "out")
    subprocess.run(["sh", str(script)], check=True)  # the script under test
    assert not (tmp_path / "broken").exists()
    assert all(line in {"", ":"} or line.startswith("#") for line in script.read_text().splitlines())


def test_a_template_has_one_change_in_the_words_of_whoever_owns_it(tmp_path):
    makers = {"auto-scaling": "  Iops: 3000", "kubernetes": '  iops: "3000"', "terraform": "  iops = 3000"}
    run = {
        "templates": [
            {
                "provider": "aws", "account": "111111111111", "region": "us-east-1", "kind": kind, "template": "web",
                "device": "/dev/xvda", "type": "gp2", "volumes": 20, "example": "vol-1",
                "target": {"type": "gp3", "iops": 3000, "throughput_mib_s": None},
                "monthly_usd_saved": 3.2, "monthly_usd_saved_beyond_volumes": 3.2,
            }
            for kind in makers
        ]
    }  # fmt: skip
    texts = list(template_texts(run))
    for one, line in zip(texts, makers.values(), strict=True):
        assert line in one.how.splitlines()
        assert len(one.how.splitlines()) == 3
    (file,) = write_changes([], tmp_path, texts)
    assert file.name == TEMPLATES
    assert all(one.how in file.read_text() for one in texts)
