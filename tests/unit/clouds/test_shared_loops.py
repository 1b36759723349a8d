"""What both clouds share: asking again, asking in halves, the loop that reads metrics, and tables of errors."""

import threading
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.aws import errors as aws
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.common.answers import Deadline, ask_again, ask_in_halves
from plimsoll.clouds.common.calls import MetricReader, Pacer
from plimsoll.clouds.common.messages import ErrorRow, translate_error
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import AccessDenied, BadAnswer, CloudError, Endless, Throttled, Unexpected
from plimsoll.ports import Usage
from plimsoll.settings import Settings
from plimsoll_google import errors as google
from tests.builders import NOW, a_tariff


def answers(*script):
    """A call that answers so, one after the other; each BadAnswer is raised."""
    left = list(script)

    def ask():
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ask, left


@pytest.mark.parametrize(
    ("script", "answer", "left"),
    [
        (["good"], "good", 0),
        ([BadAnswer("no"), "good", "unasked"], "good", 1),
        (["doubted", "good", "unasked"], "good", 1),
        (["doubted", BadAnswer("no"), "doubted", "unasked"], "doubted", 1),
    ],
)
def test_what_is_bad_or_doubted_is_asked_again_and_the_last_answer_stands(script, answer, left):
    ask, unasked = answers(*script)
    assert ask_again(ask, 3, doubted=lambda text: text == "doubted") == answer
    assert len(unasked) == left


def test_the_last_bad_answer_is_raised_and_any_other_error_at_once():
    ask, unasked = answers(*[BadAnswer("no")] * 3, "unasked")
    with pytest.raises(BadAnswer):
        ask_again(ask, 3)
    assert unasked == ["unasked"]
    ask, unasked = answers(Throttled("slow"), "unasked")
    with pytest.raises(Throttled):
        ask_again(ask, 3)
    assert unasked == ["unasked"]


def test_a_try_that_begins_after_the_deadline_is_the_last():
    ask, unasked = answers(BadAnswer("no"), "unasked")
    with pytest.raises(BadAnswer):
        ask_again(ask, 3, deadline=Deadline(seconds=0))
    assert unasked == ["unasked"]


def test_pauses_are_between_tries_alone():
    ask, _ = answers(BadAnswer("no"), BadAnswer("no"), "good")
    pauses = []
    assert ask_again(ask, 3, pause=pauses.append) == "good"
    assert pauses == [1, 2]


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 30))
def test_whatever_spoils_an_answer_every_item_is_answered_once_and_costs_itself_alone(spoilers, most):
    asked = []

    def ask(part):
        asked.append(part)
        return any(spoilers[item] for item in part)

    parts = list(ask_in_halves(tuple(range(len(spoilers))), ask, bool, most))
    assert sorted(item for part, _ in parts for item in part) == list(range(len(spoilers)))
    assert len(asked) <= 1 + 2 * most
    if most >= len(spoilers):
        assert all(len(part) == 1 for part, spoiled in parts if spoiled)


@dataclass(slots=True, kw_only=True)
class Reader(MetricReader):
    usage: Usage = field(default_factory=Usage)


def a_reader(**bounds):
    return Reader(calls=Pacer(1e9), parallel=4, query_cost=a_tariff(), **bounds)


def test_a_look_has_the_first_error_of_its_calls_in_their_order_and_else_what_was_found():
    second_was_asked = threading.Event()
    first, second = AccessDenied("first"), Throttled("second")

    def ask(call):
        if call == "second":
            second_was_asked.set()
            return {0: second, 2: second}
        if call == "first":
            second_was_asked.wait(5)
            return {0: first}
        return {}

    found = a_reader().read_all(["a", "b", "c"], ["first", "second", "third"], ask, lambda number: {"number": number})
    assert found == [first, {"number": 1}, second]


def test_a_call_is_begun_within_the_deadline_and_the_calls_of_a_run():
    reader, deadline = a_reader(most_calls=2), Deadline(seconds=60)
    for _ in range(2):
        reader.begin_call("read here", deadline)
    with pytest.raises(Endless, match=r"cannot read here: this run has made 2 calls.*PLIMSOLL_METRIC_CALLS_A_RUN"):
        reader.begin_call("read here", deadline)
    with pytest.raises(Endless, match="PLIMSOLL_READ_DEADLINE_S"):
        a_reader().begin_call("read here", Deadline(seconds=0))
    assert reader.usage == Usage(calls=2)


def test_the_first_row_that_has_an_error_says_it_by_code_or_by_class():
    rows = (
        ErrorRow(("Denied", PermissionError), AccessDenied, "{name}: ask for it."),
        ErrorRow((Exception,), Unexpected, "{name}."),
    )
    for error, code, kind in (
        (ValueError(), "Denied", AccessDenied),
        (PermissionError(), "", AccessDenied),
        (ValueError(), "denied", Unexpected),
    ):
        translated = translate_error(rows, error, code, "read it", name="X")
        assert type(translated) is kind
        assert str(translated).startswith("cannot read it: X")


EVERY_FIELD = {
    "purpose": aws.AUDITING,
    **dict.fromkeys(
        ("name", "message", "permission", "remedy", "denial", "holder", "credentials", "service"), "{message}"
    ),
    **dict.fromkeys(("project", "other"), "{message}"),
}


@pytest.mark.parametrize("rows", [aws._ROWS, google._ROWS], ids=["aws", "google"])
def test_every_row_of_a_cloud_is_a_sentence_whatever_its_fields_hold_and_the_last_has_every_error(rows):
    for row in rows:
        sentence = row.sentence.format(**EVERY_FIELD)
        assert issubclass(row.kind, CloudError)
        assert "{" not in sentence.replace("{message}", "")
    assert rows[-1].is_of(Exception(), "")
    codes = [code for row in rows for code in row.codes]
    assert len(codes) == len(set(codes))


def test_a_connection_keeps_to_its_quotas_unless_there_are_none():
    reach = Reach(scope=Scope(), settings=Settings(), today=NOW.date())
    assert reach.limit_rate(50.0) == 50.0
    assert Reach(scope=Scope(), settings=Settings(), today=NOW.date(), paced=False).limit_rate(50.0) == float("inf")
