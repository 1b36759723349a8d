"""A host without fio: whichever package manager is there installs it, or the answer says why not."""

import shutil

import pytest

from plimsoll.model.errors import NotMeasured
from plimsoll_measure.bench.answer import read_bench_answer
from tests.unit.measure.bench.hosts import MIB, READS, a_task, commands_at, run

MANAGERS = ("dnf", "yum", "apt-get", "zypper")


@pytest.fixture
def simulated(tmp_path):
    device = tmp_path / "device"
    with device.open("wb") as file:
        file.truncate(16 * MIB)
    return {"folder": tmp_path, "PLIMSOLL_SIMULATED_DEVICE": str(device)}


@pytest.mark.needs("fio")
@pytest.mark.parametrize("manager", MANAGERS)
def test_fio_is_installed_without_a_question(manager, simulated, tmp_path):
    log = tmp_path / "log"
    installs = f"""
    echo "$0 $*" >> {log}
    echo much that is of no interest
    case "$*" in *install*fio*) {shutil.which("ln")} -s {shutil.which("fio")} {tmp_path}/commands/fio ;; esac
    """
    path = commands_at(tmp_path, **{manager.replace("-", "_"): installs})
    told = run(a_task(job=READS, limit_s=30), PATH=path, **simulated)
    assert read_bench_answer(told.stdout).fio is not None
    assert told.stdout.count("\n") == 1
    (line,) = [line for line in log.read_text().splitlines() if " install" in line]
    assert f"/{manager} " in line
    assert "-y" in line or "--non-interactive" in line


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_package_manager_that_fails_is_quoted(manager, simulated, tmp_path):
    path = commands_at(tmp_path, **{manager.replace("-", "_"): 'echo "Could not resolve \\"host\\"" >&2; exit 1'})
    told = run(a_task(job=READS, limit_s=30), PATH=path, **simulated)
    assert told.returncode == 1
    with pytest.raises(
        NotMeasured, match=rf'\(install\): .*{manager} could not install it: .*Could not resolve "host"'
    ):
        read_bench_answer(told.stdout)


def test_a_package_manager_that_says_it_succeeded_is_not_believed(simulated, tmp_path):
    with pytest.raises(NotMeasured, match=r"\(install\)"):
        read_bench_answer(
            run(a_task(job=READS, limit_s=30), PATH=commands_at(tmp_path, dnf="exit 0"), **simulated).stdout
        )


def test_a_package_manager_that_hangs_is_bounded(simulated, tmp_path):
    path = commands_at(tmp_path, dnf="exec sleep 300")
    with pytest.raises(NotMeasured, match=r"\(install\)"):
        read_bench_answer(run(a_task(job=READS, limit_s=10), PATH=path, **simulated).stdout)


def test_a_host_without_any_package_manager_says_so(simulated, tmp_path):
    path = commands_at(tmp_path)
    with pytest.raises(NotMeasured, match=r"none of dnf, yum, apt-get and zypper.*Install fio on the host"):
        read_bench_answer(run(a_task(job=READS, limit_s=30), PATH=path, **simulated).stdout)
