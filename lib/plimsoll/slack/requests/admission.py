"""Who may ask anything at all, and for what: the workspaces of the configuration, and what there is to press."""

from http import HTTPStatus
from typing import Final

from plimsoll.service.slack_config import SlackConfig
from plimsoll.slack.blocks.elements import LABELS, OPEN_REPORT
from plimsoll.slack.client import is_hook
from plimsoll.slack.requests.dialogs import DIALOGS
from plimsoll.slack.requests.payloads import COMMAND, Payload, Pressed, SslCheck, Submitted, Typed
from plimsoll.slack.requests.signed import Refused

ACTIONS: Final = frozenset(LABELS)
"""What the buttons of a message ask for, by their action ids."""

LINKS: Final = frozenset({OPEN_REPORT})
"""Buttons that lead elsewhere: Slack tells of them as well, and wants to hear that it was heard."""


def check_team(payload: Payload, config: SlackConfig | None) -> None:
    """Refuses (403) what comes from another workspace than the configured ones, or from somebody of another.

    A whole organization's workspaces are named by its id. In a channel that is shared with others their people see our
    buttons too: those do not belong to a workspace of ours, wherever they press. The organization's id takes the place
    of the workspace's in `user.team_id` where there is one (docs.slack.dev/reference/interaction-payloads, 2026-11).
    """
    if isinstance(payload, SslCheck):
        return
    if config is None:
        raise Refused(HTTPStatus.FORBIDDEN, "the service is not configured for Slack")
    team, enterprise, persons = _origin(payload)
    if not {team, enterprise} & set(config.teams):
        raise Refused(HTTPStatus.FORBIDDEN, "the workspace is none that is configured")
    if persons not in {None, team, enterprise, *config.teams}:
        raise Refused(HTTPStatus.FORBIDDEN, "somebody of another workspace asks")


def check_address(payload: Payload, api_url: str) -> None:
    """Refuses (400) an address for answers that is none of Slack's, so that nothing is ever told to another."""
    url = payload.response_url if isinstance(payload, Pressed | Typed) else None
    if url is not None and not is_hook(url, api_url):
        raise Refused(HTTPStatus.BAD_REQUEST, "the address for answers is none of Slack's")


def check_known(payload: Payload) -> None:
    """Refuses (404) a button, a dialog or a command that is not ours."""
    match payload:
        case Pressed():
            known = payload.actions[0].action_id in ACTIONS | LINKS
        case Submitted():
            known = payload.view.callback_id in DIALOGS
        case Typed():
            known = payload.command == COMMAND
        case SslCheck():
            known = True
    if not known:
        raise Refused(HTTPStatus.NOT_FOUND, "the button, dialog or command is none of ours")


def _origin(payload: Pressed | Submitted | Typed) -> tuple[str | None, str | None, str | None]:
    """The workspace and the organization it comes from, and the one that the person belongs to, as far as it says."""
    if isinstance(payload, Typed):
        return payload.team_id, payload.enterprise_id, None
    return payload.team.id if payload.team else None, payload.enterprise_id, payload.user.team_id
