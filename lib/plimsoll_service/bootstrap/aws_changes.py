"""The tools of changes in AWS accounts that are open."""

from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.aws.connection import connection_of
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.scope import Scope
from plimsoll.settings import Settings
from plimsoll_change.aws.changer import AwsChanger
from plimsoll_change.ports import ChangeTools


def account_changer(entered: Sessions, settings: Settings) -> AwsChanger:
    """The volumes of open accounts."""
    return AwsChanger(sessions=entered, now=clock().now, list_deadline_s=settings.list_deadline_s)


def open_tools(entered: Sessions, settings: Settings, *, paced: bool) -> ChangeTools:
    """The volumes of open accounts, and their metrics."""
    reach = Reach(scope=Scope(), settings=settings, today=clock().now().date(), paced=paced)
    return ChangeTools(changer=account_changer(entered, settings), metrics=connection_of(entered, reach).metrics)
