"""A record's fields as columns: the type of each, and an error for what no column can hold."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from plimsoll.reports.data.column_types import column_types
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import UnansweredRecord


class Inner(BaseModel):
    size_gib: int | None
    odd_name: str


class Outer(BaseModel):
    word: Literal["a", "b"]
    rate: float | None
    sure: bool
    rates: list[float | None]
    inner: Inner | None
    inners: list[Inner]
    reasons: dict[str, str]


def test_each_kind_of_field_has_its_type():
    assert column_types(Outer) == {
        "word": "VARCHAR",
        "rate": "DOUBLE",
        "sure": "BOOLEAN",
        "rates": "DOUBLE[]",
        "inner": 'STRUCT("size_gib" BIGINT, "odd_name" VARCHAR)',
        "inners": 'STRUCT("size_gib" BIGINT, "odd_name" VARCHAR)[]',
        "reasons": "MAP(VARCHAR, VARCHAR)",
    }


@pytest.mark.parametrize("model", [RecommendationRecord, DemandProfileRecord, UnansweredRecord])
def test_every_field_of_what_a_run_holds_is_a_column(model):
    assert list(column_types(model)) == list(model.model_fields)


@pytest.mark.parametrize("annotation", [Any, int | str, bytes, tuple[int, int], object, Literal[1]])
def test_what_no_column_can_hold_is_an_error(annotation):
    model = type("Model", (BaseModel,), {"__annotations__": {"field": annotation}})
    with pytest.raises(TypeError, match="no column can hold"):
        column_types(model)
