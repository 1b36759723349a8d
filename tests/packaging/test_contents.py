"""Which distributions the zip of each function is to hold, before anything is built."""

import re
import sys
from importlib.metadata import packages_distributions

import pytest

from infra.packaging import PROJECT
from infra.packaging.contents import BY_NAME, PACKAGES, distributions, imports_of, own_packages
from tests.packaging.conftest import FUNCTIONS

DISTRIBUTIONS = packages_distributions()
TEXT_OF_A_FUNCTION = re.compile(r'"(plimsoll\w*\.[\w.]+):\w+"')
"""A function that is imported by its name, as a job's steps are."""
BY_TEXT = {
    "plimsoll": "what its users ask of it by name, which no function does",
    "plimsoll.clouds.aws.accounts": "in BY_NAME",
    "plimsoll.clouds.cloud": "the catalogs are in BY_NAME; connections come where a function imports them",
    "plimsoll.clouds.permissions": "the command that prints permissions",
    "plimsoll.jobs.kernel": "the steps of jobs, as MODULE:FUNCTION",
    "plimsoll_change.opening": "the volumes of a cloud, for the command line alone",
}
"""The modules that import others by text, and why a zip is whole all the same."""
GOOGLE = {"plan", "take_inventory", "audit_batch", "slack_work"}


@pytest.mark.parametrize(
    ("distribution", "users"),
    [
        ("duckdb", {"combine"}),
        ("google-cloud-monitoring", GOOGLE),
        ("grpcio", GOOGLE),
        ("rich", set()),
        ("vl-convert-python", {"slack_report"}),
    ],
)
def test_what_is_large_is_for_those_alone_who_use_it(distribution: str, users: set[str]) -> None:
    held = {name: {one.partition("==")[0] for one in distributions(name)} for name in FUNCTIONS}
    assert {name for name, names in held.items() if distribution in names} == users


def test_what_slack_waits_for_decides_nothing() -> None:
    names = {one.partition("==")[0] for one in distributions("slack_act")}
    assert {"boto3", "slack-sdk"} <= names
    assert not names & {"numpy", "duckdb", "jinja2", "rich"}


def held_by(function: str, *, google: bool = True) -> set[str]:
    return {one.partition("==")[0] for one in distributions(function, google=google)} | {*own_packages(function)}


def not_held(modules: set[str], held: set[str]) -> set[str]:
    """The packages that these modules are of, and that nothing held brings: our own, and those of distributions."""
    packages = {module.partition(".")[0] for module in modules} - {"", "functions", *sys.stdlib_module_names}
    of_others = {package: {_normal(name) for name in DISTRIBUTIONS.get(package, ())} for package in packages}
    bringing = of_others | {package: {package} for package in packages & {*PACKAGES}}
    return {package for package, names in bringing.items() if not names & held}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_zip_holds_all_that_its_function_imports_also_while_it_runs_and_by_name(function: str) -> None:
    modules = {*imports_of(f"functions.{function}")}
    assert f"functions.{function}" in modules
    asking = modules - {"plimsoll"}  # its table is of what its users ask for
    named = {name for module in asking for name in TEXT_OF_A_FUNCTION.findall(source_of(module))}
    later = {imported for name in named for imported in imports_of(name)}
    assert not_held(modules | later, held_by(function)) == set()


def test_no_other_module_imports_by_text_than_is_known_here() -> None:
    importing = {
        ".".join(file.relative_to(PROJECT / "lib").with_suffix("").parts).removesuffix(".__init__")
        for package in PACKAGES
        for file in (PROJECT / "lib" / package).rglob("*.py")
        if "cli" not in file.parts and "import_module(" in file.read_text(encoding="utf-8")
    }
    assert importing == {*BY_TEXT}
    assert {"plimsoll.clouds.aws.accounts", "plimsoll.clouds.published"} == {*BY_NAME}


def test_what_is_missing_would_be_found() -> None:
    modules = {"numpy.linalg", "json", "plimsoll.model", "plimsoll_measure.probe"}
    assert not_held(modules, held_by("slack_act")) == {"numpy", "plimsoll_measure"}


@pytest.mark.parametrize("function", sorted(GOOGLE))
def test_without_google_cloud_a_zip_lacks_google_s_libraries_and_nothing_else(function: str) -> None:
    lacking = not_held({*imports_of(f"functions.{function}")}, held_by(function, google=False))
    assert lacking == {"google", "grpc", "requests"}


def source_of(module: str) -> str:
    """The source of a module of ours; nothing of others, which name no function of ours."""
    place = PROJECT / ("" if module.startswith("functions") else "lib") / module.replace(".", "/")
    files = (place.with_suffix(".py"), place / "__init__.py")
    return "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def test_a_zip_has_no_wing_that_its_function_does_not_import() -> None:
    assert own_packages("slack_act") == ("plimsoll", "plimsoll_google", "plimsoll_service")
    assert {name for function in FUNCTIONS for name in own_packages(function)} == {
        "plimsoll",
        "plimsoll_change",
        "plimsoll_google",
        "plimsoll_measure",
        "plimsoll_service",
    }
