import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.aws.names import DOCUMENT_NAME
from plimsoll.model.errors import BadInput
from plimsoll.model.task import TaskMode
from plimsoll_measure.bench.document import document, document_hash, parameters_of, render_commands
from tests.unit.measure.bench.hosts import a_task, commands

PARAMETERS = document()["parameters"]
COMMANDS = document()["mainSteps"][0]["inputs"]["runCommand"]
ENDS_A_QUOTATION = set("'\"`$\\{} \t\r\n;&|<>")


def test_the_document_is_one_that_systems_manager_takes():
    content = document()
    assert content["schemaVersion"] == "2.2"
    (step,) = content["mainSteps"]
    assert step["action"] == "aws:runShellScript"
    assert step["precondition"] == {"StringEquals": ["platformType", "Linux"]}
    assert step["inputs"]["timeoutSeconds"] == "{{ LimitSeconds }}"
    assert len(json.dumps(content)) < 64 * 1024
    assert re.fullmatch(r"[a-zA-Z0-9_\-.]{3,128}", DOCUMENT_NAME)
    assert re.fullmatch(r"[0-9a-f]{16}", document_hash())


def test_every_parameter_has_an_anchored_pattern_that_its_default_matches():
    for told in PARAMETERS.values():
        assert told["type"] == "String"
        assert told["allowedPattern"].startswith("^")
        assert told["allowedPattern"].endswith("$")
        assert "|" not in re.sub(r"\([^()]*\)", "", told["allowedPattern"].replace("([", "["))
        assert "default" not in told or re.fullmatch(told["allowedPattern"], told["default"])


def test_parameters_are_only_pasted_between_single_quotes_in_the_first_lines():
    first, rest = COMMANDS[: len(PARAMETERS)], COMMANDS[len(PARAMETERS) :]
    assert all(re.fullmatch(r"[A-Z_]+='\{\{ [A-Za-z]+ \}\}'", line) for line in first)
    assert not [line for line in rest if "{{" in line]
    assert {re.search(r"\{\{ (\w+) \}\}", line)[1] for line in first} == set(PARAMETERS)


@pytest.mark.parametrize("name", PARAMETERS)
def test_nothing_that_a_pattern_allows_ends_the_quotation(name):
    @given(st.from_regex(PARAMETERS[name]["allowedPattern"], fullmatch=True))
    def holds(value):
        assert not ENDS_A_QUOTATION & set(value.removesuffix("\n"))

    holds()


@given(
    st.fixed_dictionaries(
        {name: st.from_regex(told["allowedPattern"], fullmatch=True) for name, told in PARAMETERS.items()}
    )
)
def test_a_shell_reads_back_exactly_what_was_given(values):
    values = {name: value.removesuffix("\n")[:4096] for name, value in values.items()}
    values["Job"] = values["Job"].rstrip("=")
    lines = render_commands({name: [value] for name, value in values.items()})[: len(PARAMETERS)]
    names = [line.partition("=")[0] for line in lines]
    quoted = " ".join(f'"${name}"' for name in names)
    shown = "\n".join([*lines, f"printf '%s\\n' {quoted}"])
    told = subprocess.run(["/bin/sh", "-c", shown], capture_output=True, text=True, check=True, env={})
    assert told.stdout.splitlines() == [values[name] for name in PARAMETERS]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VolumeId", "vol-0123456789abcdef0'; reboot; '"),
        ("VolumeId", "vol-0123456789abcdef0\n"),
        ("VolumeId", "vol-XYZ"),
        ("Mode", "erase"),
        ("Job", "$(reboot)"),
        ("Job", "A" * 16_388),
        ("LimitSeconds", "010"),
        ("LimitSeconds", "5"),
        ("FileSizeMib", "0"),
        ("MostQueue", "-1"),
        ("Initialize", "yes"),
        ("Elsewhere", "1"),
    ],
)
def test_what_a_pattern_refuses_is_never_rendered(name, value):
    with pytest.raises(BadInput, match=name):
        render_commands({"Mode": ["inspect"], name: [value]})


def test_a_task_becomes_parameters_and_back_by_the_same_patterns():
    parameters = parameters_of(a_task(mode=TaskMode.FILE, file_size_mib=7, most_queue=3, most_latency_us=9000))
    assert set(parameters) == set(PARAMETERS)
    lines = render_commands(parameters)
    assert "FILE_SIZE_MIB='7'" in lines
    assert "MOST_LATENCY_US='9000'" in lines
    assert "INITIALISE='no'" in lines


def test_defaults_are_those_of_the_document():
    lines = render_commands({"Mode": ["inspect"]})
    assert "LIMIT_SECONDS='3600'" in lines
    assert "VOLUME_ID=''" in lines


@pytest.mark.parametrize(
    "changes",
    [{"volume_id": "vol-1; reboot"}, {"volume_id": ""}, {"limit_s": 9}, {"limit_s": 200_000}, {"most_queue": -1}],
)
def test_a_task_that_the_document_would_refuse_is_bad_input(changes):
    with pytest.raises(BadInput):
        parameters_of(a_task(**changes))


def test_a_mode_is_always_needed():
    with pytest.raises(BadInput, match="Mode"):
        render_commands({})


@pytest.mark.needs("shellcheck")
def test_the_script_is_clean():
    # Left out: notes that `set -e` does not act inside conditions, and on codes of commands within other commands.
    found = subprocess.run(
        ["shellcheck", "--shell=sh", "--enable=all", "--exclude=SC2310,SC2312", "-"],
        input=commands(a_task()) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == ""
    assert found.returncode == 0


NO_CHECK = re.compile(
    r"kill|signal_engine|wait |printf |publish |metadata .* -X DELETE|bounded .* apt-get .* update|install_with "
)
"""What may fail without a word: ends and farewells, and what is looked at afterwards (whether fio is there)."""


def test_no_check_of_a_shell_script_is_let_fail():
    """A check whose failure is thrown away says yes."""
    root = Path(__file__).parents[4]
    shell = [
        *(root / "lib/plimsoll_measure/bench").rglob("*.sh"),
        root / ".ci/run",
        root / "action.yml",
        root / "Makefile",
    ]
    lines = [(file.name, line) for file in shell for line in file.read_text(encoding="utf-8").splitlines()]
    let_fail = [(name, line) for name, line in lines if re.search(r"\|\|\s*(:|true)(\s|\)|$)", line)]
    assert len(let_fail) > 5
    assert [(name, line) for name, line in let_fail if not NO_CHECK.search(line)] == []
