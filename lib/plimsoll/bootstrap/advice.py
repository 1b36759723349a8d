"""The advice of the clouds' own tools for the volumes of a run."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from plimsoll.clouds.aws.accounts import sign_in
from plimsoll.clouds.aws.compute_optimizer import read_advice
from plimsoll.clouds.aws.lists import Asker
from plimsoll.clouds.common.answers import Deadline
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import CloudError
from plimsoll.ports import Advice, Target
from plimsoll.settings import Settings


@dataclass(slots=True)
class AdviceRead:
    """Advice by the volumes' full names; `failed` says of places, and of single volumes, why there is none."""

    by_volume: dict[str, Advice] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def read_optimizer(scope: Scope, targets: Iterable[Target], settings: Settings) -> AdviceRead:
    """The recommendations of AWS Compute Optimizer for the volumes of some targets, by the sessions of an audit."""
    sessions, advice = sign_in(replace(scope, clouds=(AWS,), regions=()), settings), AdviceRead()
    for target in targets:
        if target.account not in sessions.by_account:
            advice.failed[str(target)] = "the run's credentials do not reach this account now: see below."
            advice.failed |= {failure.name: str(failure.error) for failure in sessions.failed}
            continue
        client = sessions.client("compute-optimizer", target.account, target.region)
        asker = Asker(place=str(target), deadline=Deadline(seconds=settings.list_deadline_s))
        try:
            for item in read_advice(client, target, asker):
                if isinstance(item, Advice):
                    advice.by_volume[f"{target}/{item.volume_id}"] = item
                else:
                    advice.failed[f"{target}/{item.id or item.what}"] = str(item.error)
        except CloudError as error:
            advice.failed[str(target)] = str(error)
    return advice
