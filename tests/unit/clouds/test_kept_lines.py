"""Lines that are added to a file, whatever became of the one before."""

import pytest
from pydantic import BaseModel

from plimsoll.clouds.local_store import append_line, lines_of
from plimsoll.model.errors import BadInput


class A(BaseModel):
    text: str


def add(path, *texts):
    for text in texts:
        append_line(path, A(text=text).model_dump_json())


def test_lines_are_read_as_they_were_added_and_no_file_has_none(tmp_path):
    path = tmp_path / "new" / "lines.jsonl"
    assert list(lines_of(path, A, "word")) == []
    add(path, "one", "zwölf", "a\nb")
    assert [line.text for line in lines_of(path, A, "word")] == ["one", "zwölf", "a\nb"]


@pytest.mark.parametrize("left", range(1, 16))
def test_wherever_a_line_was_cut_off_the_next_one_is_whole(tmp_path, left):
    path = tmp_path / "lines.jsonl"
    add(path, "one", "zwölf")
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:left])
    add(path, "three")
    found = lines_of(path, A, "word")
    assert next(found).text == "one"
    if left < len(second) - 1:
        with pytest.raises(BadInput, match=r"line 2 of .*lines\.jsonl is no word"):
            next(found)
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::2]))
        assert [line.text for line in lines_of(path, A, "word")] == ["one", "three"]


def test_what_cannot_be_written_is_said(tmp_path):
    (tmp_path / "lines.jsonl").mkdir()
    with pytest.raises(BadInput, match="cannot be written"):
        add(tmp_path / "lines.jsonl", "one")
