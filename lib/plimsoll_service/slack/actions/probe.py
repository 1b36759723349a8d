"""Probe: a volume's host reads for an hour what it counts of the volume; Explain shows it then."""

from typing import Final

from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.errors import BadInput
from plimsoll_google.names import UNPROBED
from plimsoll_service.slack.actions.action import ActionContext, ActionPlace, SlackAction
from plimsoll_service.slack.actions.answers import person_paragraph
from plimsoll_service.slack.blocks.elements import bold, note
from plimsoll_service.slack.blocks.message import SlackMessage

_MORE: Final = (
    "It does no I/O on the volume. Press Explain after an hour: it shows the busiest second, and for how long a limit "
    "was exceeded."
)


def _perform(work: ActionContext) -> None:
    """Begins a probe and says so; a second request for the same one changes nothing.

    Raises BadInput if nothing can be probed, or there is no such volume.
    """
    target, volume_id = work.place(work.volume)
    if target.provider == GOOGLE:
        raise BadInput(UNPROBED)
    work.begin("probe", {"volume_ids": [f"{target}/{volume_id}"]})
    sentence = person_paragraph(work.asked.user, "asked for a probe of ", bold(volume_id), f" ({target}), for an hour.")
    work.answers.to_all(SlackMessage.compose(f"A probe of {volume_id} is begun", [sentence, note(_MORE)]))


PROBE_ACTION: Final = SlackAction(
    name="probe",
    label="Probe for an hour",
    shown=ActionPlace.MENU,
    command="read once a second what a volume's host counts",
    repeats=True,
    perform=_perform,
)
