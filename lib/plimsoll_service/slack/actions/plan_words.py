"""Words on a plan of changes: the buttons by which people approve it, let it go on and stop it, a row each."""

from typing import Final

from plimsoll_service.slack.actions.action import ActionContext, SlackAction


def _perform(work: ActionContext) -> None:
    """Keeps the word and says what follows. Raises BadInput if it counts for nothing."""
    work.answers.to_all(work.say_on_plan(work.asked))


PLAN_WORDS: Final = tuple(
    SlackAction(name=word, label=label, of_volume=False, of_plan=True, cost=cost, perform=_perform)
    for word, label, cost in (
        ("approve", "Approve", "The service then changes the volumes of the plan, as it says."),
        ("go-on", "Go on", "What paused or stopped then begins again, wave by wave."),
        ("stop", "Stop", "Nothing more of the plan begins, for ever. What has begun is watched to its end."),
    )
)
"""The buttons of a plan. Each is called as what `PersonWord` says."""
