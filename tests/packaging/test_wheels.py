"""The distributions of a zip: all that any of them needs, in whatever order they are come to."""

from pathlib import Path

import pytest

from infra.packaging.wheels import Lock

LOCKED = """
[[package]]
name = "plimsoll"
dependencies = [{{ name = "numpy" }}, {{ name = "pydantic" }}]
dev-dependencies = {{ functions = [] }}

[[package]]
name = "{asking}"
dependencies = [{{ name = "{asked}", extra = ["fast"] }}]

[[package]]
name = "{asked}"
dependencies = [{{ name = "idna" }}]
optional-dependencies = {{ fast = [{{ name = "six" }}], slow = [{{ name = "cffi" }}] }}

[[package]]
name = "idna"

[[package]]
name = "six"

[[package]]
name = "cffi"
"""


@pytest.mark.parametrize(("asking", "asked"), [("numpy", "pydantic"), ("pydantic", "numpy")])
def test_an_extra_is_there_though_what_has_it_is_needed_without_it_too(tmp_path: Path, asking: str, asked: str) -> None:
    (tmp_path / "uv.lock").write_text(LOCKED.format(asking=asking, asked=asked), encoding="utf-8")
    assert Lock(project=tmp_path).needed_for(["numpy", "pydantic"]) == {"numpy", "pydantic", "idna", "six"}
