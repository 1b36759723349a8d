"""Bytecode of templates is kept beside that of modules, and a page is the same without it."""

import sys

import pytest
from jinja2 import DictLoader, Environment

from plimsoll.reports.html.page import BytecodeOfTemplates


@pytest.fixture
def compiled(monkeypatch):
    """The templates that were compiled."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    names = []
    compile_one = Environment.compile
    monkeypatch.setattr(
        Environment, "compile", lambda self, *given, **more: names.append(given[1]) or compile_one(self, *given, **more)
    )
    return names


def shown(folder, text="{{ a }}!"):
    kept = BytecodeOfTemplates(str(folder), "%s.jinja")
    return Environment(loader=DictLoader({"page": text}), bytecode_cache=kept).get_template("page").render(a="x")


def test_a_template_is_compiled_once_until_it_changes(compiled, tmp_path):
    assert [shown(tmp_path), shown(tmp_path)] == ["x!"] * 2
    assert compiled == ["page"]
    assert shown(tmp_path, "{{ a }}?") == "x?"
    assert compiled == ["page"] * 2


def test_where_nothing_can_be_written_each_process_compiles(compiled, tmp_path):
    assert [shown(tmp_path / "nowhere"), shown(tmp_path / "nowhere")] == ["x!"] * 2
    assert compiled == ["page"] * 2
    assert not (tmp_path / "nowhere").exists()


def test_who_wants_no_bytecode_written_has_none(compiled, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert shown(tmp_path) == "x!"
    assert [*tmp_path.iterdir()] == []
