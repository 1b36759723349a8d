"""mypy reads the services that are imported, and no others: one that is not in its list would be taken for Any."""

import ast
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OVERRIDES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]


def modules(follow):
    return [name for one in OVERRIDES if one.get("follow_imports") == follow for name in one["module"]]


def imported(folder):
    """Every module of CDK and of Compute Engine's services that a folder's files import, with those of their names."""
    found = set()
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "aws_cdk":
                found |= {f"aws_cdk.{one.name}" for one in node.names if one.name.startswith("aws_")}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aws_cdk."):
                found.add(node.module)
            elif isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "compute_v1":
                found |= {f"google.cloud.compute_v1.services.{snake(node.attr)}"} if client(node.attr) else set()
    return found


def client(name):
    return name.endswith("Client")


def snake(name):
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in name.removesuffix("Client")).strip("_")


@pytest.mark.parametrize("folder", ["infra", "lib", "functions"])
def test_every_service_that_is_imported_is_read_by_mypy(folder):
    read = set(modules("normal"))
    skipped = {name for name in imported(folder) if any(fnmatch(name, pattern) for pattern in modules("skip"))}
    assert skipped <= read


def test_there_are_services_to_be_read():
    assert len(imported("infra")) > 20
    assert "google.cloud.compute_v1.services.region_disks" in imported("lib")
