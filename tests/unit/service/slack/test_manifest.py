"""The app's manifest: what Slack takes, with the scopes that the calls need and no others."""

import re
from pathlib import Path

import pytest
import yaml

import functions
from plimsoll.model.errors import BadInput
from plimsoll_service.slack.manifest import PLACEHOLDER, app_manifest
from plimsoll_service.slack.requests.payloads import COMMAND
from tests.gates.library import find_files

URL = "https://abcdefghijklmnop.lambda-url.eu-west-1.on.aws/"

SCOPES = {
    "auth_test": None,
    "chat_postMessage": "chat:write",
    "chat_postEphemeral": "chat:write",
    "chat_update": "chat:write",
    "files_upload_v2": "files:write",
    "files_getUploadURLExternal": "files:write",
    "files_completeUploadExternal": "files:write",
    "usergroups_users_list": "usergroups:read",
    "views_open": None,
    "views_update": None,
}
"""The scope of each method, by docs.slack.dev/reference/methods (November 2026)."""

FAMILIES = r"\b(?:auth|chat|conversations|files|usergroups|users|views|reactions|pins|team|bots)_[a-z]\w+"


def methods_used():
    """The methods of the Web API that are called by any of our code, by how slack_sdk names them."""
    sources = [*find_files(".py"), *Path(functions.__file__).parent.rglob("*.py")]
    called = re.compile(rf"\.({FAMILIES})\(")
    return {name for source in sources for name in called.findall(source.read_text(encoding="utf-8"))}


def test_the_scopes_are_those_of_the_methods_that_are_called_and_of_the_command():
    used = methods_used()
    assert "views_open" in used
    assert used <= SCOPES.keys()
    needed = {SCOPES[name] for name in used} - {None} | {"commands"}
    assert set(yaml.safe_load(app_manifest(URL))["oauth_config"]["scopes"]["bot"]) == needed


def test_the_url_stands_wherever_slack_calls_us():
    found = yaml.safe_load(app_manifest(URL))
    (command,) = found["features"]["slash_commands"]
    assert (command["command"], command["url"]) == (COMMAND, URL)
    assert found["settings"]["interactivity"] == {"is_enabled": True, "request_url": URL}
    assert PLACEHOLDER not in app_manifest(URL)


def test_texts_are_no_longer_than_slack_takes():
    found = yaml.safe_load(app_manifest(URL))
    (command,) = found["features"]["slash_commands"]
    shown = found["display_information"]
    texts = [shown["name"], shown["description"], found["features"]["bot_user"]["display_name"]]
    texts += [command["description"], command["usage_hint"]]
    assert [len(text) <= most for text, most in zip(texts, (35, 140, 80, 2000, 1000), strict=True)] == [True] * 5


@pytest.mark.parametrize(
    "url", ["", "http://example.com/", "example.com", "https://", 'https://a.example/"x', "https://a.example/\nb: c"]
)
def test_what_is_no_https_url_is_refused_with_where_to_find_it(url):
    with pytest.raises(BadInput, match="plimsoll-STAGE-slack"):
        app_manifest(url)
