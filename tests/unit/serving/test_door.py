"""Who is let in: by the name that is called, and where others can come, by a token."""

import base64

import pytest

from plimsoll.model.errors import BadInput
from plimsoll.serving.door import DoorTerms, terms_for
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.serving.served import served
from tests.unit.serving.test_serving import ONE, a_page, runs

__all__ = ["runs"]

TOKEN = "0123456789abcdef0123456789abcdef"
NAME = "storage.example.org"
PAGES = ("/", "/state.json", "/metrics", f"/volume/{ONE}", "/nothing")


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    return path


def basic(token, user="anybody"):
    return "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()


def test_this_machine_alone_needs_no_token(token_file):
    assert terms_for(is_local=True, names=(), token_file=None) == DoorTerms()
    assert terms_for(is_local=True, names=(), token_file=token_file).token == TOKEN


@pytest.mark.parametrize("is_local", [True, False])
def test_others_are_answered_by_name_with_a_token_or_not_at_all(token_file, is_local):
    terms = terms_for(is_local=is_local, names=(NAME.upper(),), token_file=token_file)
    assert (terms.names[0], terms.token) == (NAME, TOKEN)
    with pytest.raises(BadInput, match="--token-file"):
        terms_for(is_local=is_local, names=(NAME,), token_file=None)


@pytest.mark.parametrize("has_token", [True, False])
def test_without_a_name_no_other_address_is_listened_on(token_file, has_token):
    with pytest.raises(BadInput, match="--name"):
        terms_for(is_local=False, names=(), token_file=token_file if has_token else None)


@pytest.mark.parametrize("name", ["*", "*.example.org", "", "a b", f"{NAME}:8642", "http://x", "[::1]:80"])
def test_a_name_that_stands_for_many_or_is_none_is_refused(token_file, name):
    with pytest.raises(BadInput, match="is no name"):
        terms_for(is_local=False, names=(name,), token_file=token_file)


def test_a_short_token_or_none_is_refused(tmp_path, token_file):
    token_file.write_text("short", encoding="utf-8")
    for path in (token_file, tmp_path / "missing", tmp_path):
        with pytest.raises(BadInput, match="token"):
            terms_for(is_local=False, names=(NAME,), token_file=path)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8642", "LOCALHOST", "[::1]:8642", "[::1]"])
def test_this_machine_is_known_by_its_own_names(host):
    assert DoorTerms().has_name(host)


@pytest.mark.parametrize(
    "host", ["", "evil.example", "localhost.evil.example", "[::1", "::1", "localhost:x", "localhost@e"]
)
def test_any_other_name_is_a_stranger_s(host):
    assert not DoorTerms().has_name(host)


def test_the_page_is_used_with_the_token_and_by_no_other_name(runs, tmp_path):
    a_run(runs / "one", [a_record(volume_id="vol-1")])
    with served(tmp_path / "place", names=(NAME,), token=TOKEN) as url:
        for path in PAGES:
            for given in (
                {},
                {"Authorization": basic(TOKEN[:-1])},
                {"Authorization": f"Bearer {TOKEN}x"},
                {"Authorization": "Basic !"},
                {"Authorization": basic("")},
                {"Authorization": TOKEN},
            ):
                status, headers, text = a_page(url + path, Host=NAME, **given)
                assert (status, "vol-1" in text) == (401, False)
                assert headers["WWW-Authenticate"].startswith("Basic ")
                assert headers["Cache-Control"] == "no-store"
            assert a_page(url + path, Authorization=basic(TOKEN))[0] == 400, "127.0.0.1 is not its name here"
            assert a_page(url + path, Host="evil.example", Authorization=basic(TOKEN))[0] == 400
        for given in (basic(TOKEN), basic(TOKEN, ""), f"Bearer {TOKEN}"):
            found = {path: a_page(url + path, Host=f"{NAME}:8642", Authorization=given)[0] for path in PAGES}
            assert found == {"/": 200, "/state.json": 200, "/metrics": 200, f"/volume/{ONE}": 200, "/nothing": 404}
