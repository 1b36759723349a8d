"""The Lambdas' zips: complete, small, for the right processor, and the same from the same sources."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.packaging import PROJECT
from infra.packaging.contents import PACKAGES, asked_services
from infra.packaging.zips import Target, name_of, zip_of
from plimsoll.reports.html.page import vega
from tests.packaging.conftest import FUNCTIONS
from tests.packaging.elf import AARCH64, library

pytestmark = [pytest.mark.once, pytest.mark.release]

ON_AMAZON_LINUX = {
    *("ld-linux-aarch64.so.1", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0"),
    *("librt.so.1", "libstdc++.so.6", "libutil.so.1", "libz.so.1"),
}
"""The libraries of Amazon Linux 2023 that may be asked for (zlib, as by Python itself); others come in the zip."""
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0)}
"""The newest symbols there: of glibc 2.34 and of GCC 11 (Amazon Linux 2023 User Guide, "Core toolchain packages", and
GCC's "ABI Policy and Guidelines", read 2026-11-27)."""

ALONE = """
import sys
here, *functions = sys.argv[1:]
sys.path[:] = [here, *(path for path in sys.path if "site-packages" not in path)]
from importlib import import_module
from plimsoll import __version__
for function in functions:
    assert callable(import_module(f"functions.{function}").handler), function
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
outside = [file for file in files if "site-packages" in file]
assert not outside, outside
if {"plan", "audit_batch", "slack_work"} & {*functions}:
    assert not {"google.auth", "grpc"} & {*sys.modules}, "Google's libraries wait for a project"
    import plimsoll_service.bootstrap.google_projects
    from plimsoll_google.clients import Clients
    clients = Clients(url="http://127.0.0.1:9", monitoring="127.0.0.1:9")
    made = [client for client in dir(Clients) if isinstance(getattr(Clients, client), property)]
    assert all(getattr(clients, client) for client in made if client not in {"default_project", "retry"})
import boto3
import botocore.loaders
for service in botocore.loaders.create_loader().list_available_services("service-2"):
    if here in botocore.__file__:
        boto3.client(service, region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b")
if functions != ["slack_act"]:
    from plimsoll.bootstrap.envelopes import envelope_library
    from plimsoll.clouds.common.dated_data import shipped_prices
    from plimsoll.clouds.common.dated_data import volume_types
    assert envelope_library().envelopes and shipped_prices("aws") and volume_types("aws")
print(__version__)
"""
"""Imports functions from an unpacked zip alone, makes a client of every service in it, Google's included, and reads
what ships; what Slack waits for decides nothing, and has none of that."""


def names_in(archive: Path) -> list[str]:
    with ZipFile(archive) as zipped:
        return zipped.namelist()


def sharing(zips: Mapping[str, Path]) -> dict[Path, list[str]]:
    """The functions of each zip."""
    return {archive: [name for name, one in zips.items() if one == archive] for archive in set(zips.values())}


def test_every_handler_runs_from_its_zip_alone(native_zips: Mapping[str, Path], tmp_path: Path) -> None:
    for count, (archive, functions) in enumerate(sharing(native_zips).items()):
        unpacked = tmp_path / str(count)
        with ZipFile(archive) as zipped:
            zipped.extractall(unpacked)
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-W", "error", "-c", ALONE, str(unpacked), *functions],
            capture_output=True, text=True, check=False, cwd=tmp_path,
            env={"PLIMSOLL_BUCKET": "b", "AWS_DEFAULT_REGION": "eu-west-1"},
        )  # fmt: skip
        assert done.returncode == 0, (functions, done.stderr)


def test_what_runs_on_lambda_can_be_loaded_there(lambda_zips: Mapping[str, Path]) -> None:
    """By what the compiled libraries ask for; no machine of that processor runs them here."""
    read = {}
    for archive in set(lambda_zips.values()):
        with ZipFile(archive) as zipped:
            names = [name for name in zipped.namelist() if name.endswith(".so") or ".so." in name]
            read |= {(archive, name): library(zipped.read(name)) for name in names}
        assert names
        brought = {name.rpartition("/")[2] for name in names}
        asked = {needed for name in names for needed in read[archive, name].needed}
        assert asked - brought <= ON_AMAZON_LINUX
    assert {made.machine for made in read.values()} == {AARCH64}
    modules = {name for _, name in read if ".cpython-" in name}
    assert {name for name in modules if ".cpython-313-aarch64-linux-gnu." not in name} == set()
    versions = {version for made in read.values() for file, version in made.versions if file in ON_AMAZON_LINUX}
    assert versions, "that nothing is asked for would mean that nothing was read"
    for version in versions:
        name, _, figures = version.partition("_")
        assert figures, version
        assert tuple(map(int, figures.split("."))) <= NEWEST[name], version


def test_google_s_libraries_are_in_a_zip_only_where_its_cloud_is_audited(tmp_path: Path) -> None:
    alone = zip_of("plan", Target(google=False))
    assert not {"google", "grpc", "requests"} & {name.split("/")[0] for name in names_in(alone)}
    assert {"functions", "plimsoll_google"} <= {name.split("/")[0] for name in names_in(alone)}
    assert alone.stat().st_size < 30e6


def test_a_zip_has_at_most_75_mb_and_250_mb_unpacked(lambda_zips: Mapping[str, Path]) -> None:
    """Lambda takes 250 MB unpacked (AWS Lambda Developer Guide, "Lambda quotas", read 2026-11-22)."""
    for archive, functions in sharing(lambda_zips).items():
        with ZipFile(archive) as zipped:
            unpacked = sum(entry.file_size for entry in zipped.infolist())
        assert archive.stat().st_size < 75e6, functions
        assert unpacked < 250e6, functions


def test_what_slack_waits_for_is_small(lambda_zips: Mapping[str, Path]) -> None:
    tops = {name.split("/")[0] for name in names_in(lambda_zips["slack_act"])}
    assert not tops & {"numpy", "altair", "duckdb", "jinja2", "rich"}
    assert lambda_zips["slack_act"].stat().st_size < 15e6


def test_a_zip_describes_only_the_services_that_are_asked(lambda_zips: Mapping[str, Path]) -> None:
    for archive in set(lambda_zips.values()):
        data = {name.split("/")[2] for name in names_in(archive) if name.startswith("botocore/data/")}
        assert {name for name in data if "." not in name} == asked_services()


def test_a_zip_holds_only_what_its_functions_import(lambda_zips: Mapping[str, Path]) -> None:
    for archive in set(lambda_zips.values()):
        names = names_in(archive)
        tops = {name.split("/")[0] for name in names}
        assert not tops & {"moto", "typer", "flask", "aws_cdk", "hypothesis", "bin"}
        assert not [
            name
            for name in names
            if name.startswith((*(f"{package}/cli/" for package in PACKAGES), "cloud_simulator/"))
        ]
        assert not [name for name in names if "/tests/" in name or name.endswith((".pyi", ".h", ".a"))]


@pytest.mark.parametrize(
    ("distribution", "users"),
    [
        ("altair", {"slack_report"}),
        ("duckdb", {"combine"}),
        ("vl_convert", {"slack_report"}),
        ("rich", set()),
        ("grpc", {"plan", "take_inventory", "audit_batch", "slack_work"}),
        ("google", {"plan", "take_inventory", "audit_batch", "slack_work"}),
    ],
)
def test_what_is_large_is_in_the_zips_of_those_alone_who_use_it(
    lambda_zips: Mapping[str, Path], distribution: str, users: set[str]
) -> None:
    carry = {name for name, one in lambda_zips.items() if any(x.startswith(f"{distribution}/") for x in names_in(one))}
    assert carry == users


def test_the_page_is_drawn_by_the_script_that_ships(lambda_zips: Mapping[str, Path]) -> None:
    with ZipFile(lambda_zips["report"]) as zipped:
        assert zipped.read("plimsoll/reports/html/vega/vega.js").decode() == vega("vega.js")


def test_every_function_has_a_zip_that_holds_it_and_its_data(lambda_zips: Mapping[str, Path]) -> None:
    assert {"plan", "take_inventory", "find_pending", "audit_batch", "note_failure", "summarize", "report"} <= {
        *FUNCTIONS
    }
    for function, archive in lambda_zips.items():
        names = {*names_in(archive)}
        assert f"functions/{function}.py" in names
        data = {f"plimsoll/envelopes/measured/{one.name}" for one in (PROJECT / "benchmarks/measured").glob("*.yaml")}
        if function != "slack_act":
            assert data | {"plimsoll/clouds/aws/data/prices.yaml", "plimsoll/learned/public.json"} <= names


def test_the_same_sources_give_the_same_bytes(lambda_zips: Mapping[str, Path], tmp_path: Path) -> None:
    built = lambda_zips["slack_act"]  # the smallest
    again = zip_of("slack_act", folder=tmp_path)
    assert again.name == built.name
    assert again.read_bytes() == built.read_bytes()


def test_another_processor_or_python_is_another_zip() -> None:
    targets = (Target(), Target(architecture="x86_64"), Target(python="3.12"), Target(google=False))
    assert len({name_of("plan", target) for target in targets}) == 4
