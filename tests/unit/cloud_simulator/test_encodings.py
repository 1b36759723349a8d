"""Answers written whole read back the same by an independent decoder."""

import json
from datetime import UTC, datetime

import cbor2
import numpy as np
import pytest

from cloud_simulator.aws.protocols import cbor_of, json_of


@pytest.mark.parametrize("length", [0, 1, 23, 24, 255, 256, 70_000])
def test_arrays_of_any_length_read_back(length):
    stamps = 1.7e9 + 60.0 * np.arange(length)
    values = np.linspace(0, 1e15, length)
    found = cbor2.loads(cbor_of({"Timestamps": stamps, "Values": values}))
    assert found["Values"] == values.tolist()
    assert found["Timestamps"] == [datetime.fromtimestamp(stamp, UTC) for stamp in stamps]


def test_the_rest_of_an_answer_reads_back():
    answer = {"Messages": [], "NextToken": "x" * 300, "MetricDataResults": [{"Id": "q0", "Label": "\uac00"}] * 30}
    assert cbor2.loads(cbor_of(answer)) == answer


@pytest.mark.parametrize("values", [[], [0.0], [1.0, 2e15, 3.0], [0.125, 59.999], [1e17, 1.0], [-3.0, 4.5e-9]])
def test_json_is_what_the_standard_library_would_write(values):
    answer = {"Id": "\uac00", "Messages": [], "Values": np.array(values), "Nested": [{"Values": np.array(values)}]}
    plain = {"Id": "\uac00", "Messages": [], "Values": values, "Nested": [{"Values": values}]}
    assert json.loads(json_of(answer)) == plain
    assert json_of({"Values": np.array(values)}).replace(" ", "") == json.dumps({"Values": values}).replace(" ", "")


def test_json_timestamps_are_whole_seconds():
    assert json_of({"Timestamps": np.array([1.7e9, 1.7e9 + 60])}) == '{"Timestamps":[1700000000,1700000060]}'
