"""What a bench in memory keeps: scratch volumes in their states, and commands."""

from dataclasses import dataclass
from datetime import datetime

from plimsoll.model.task import ScratchOrder, ScratchVolume, Task, TaskOutcome


@dataclass(slots=True, kw_only=True)
class Kept:
    """A scratch volume as it is; `looks_left` until its passing state is over (infinite: it hangs)."""

    id: str
    order: ScratchOrder
    created: datetime
    looks_left: float
    unseen: int
    state: str = "creating"
    attached_to: str | None = None
    attachment: str | None = None

    def shown(self) -> ScratchVolume:
        """What a look at it sees."""
        return ScratchVolume(
            id=self.id,
            account=self.order.account,
            region=self.order.region,
            zone=self.order.zone,
            validation_id=self.order.validation_id,
            deadline=self.order.deadline,
            created=self.created,
            state=self.state,
            attached_to=self.attached_to,
            attachment=self.attachment,
        )

    def settle(self) -> None:
        """Ends a passing state whose looks are used up."""
        if self.looks_left > 0:
            return
        if self.state == "creating":
            self.state = "available"
        elif self.attachment == "attaching":
            self.attachment = "attached"
        elif self.attachment == "detaching":
            self.state, self.attached_to, self.attachment = "available", None, None
        elif self.state == "deleting":
            self.state = "deleted"


@dataclass(slots=True, kw_only=True)
class Command:
    """A task that was sent; `outcome` is known once it ended."""

    host_id: str
    task: Task
    looks_left: float
    outcome: TaskOutcome | None = None
