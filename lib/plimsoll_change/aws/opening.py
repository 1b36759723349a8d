"""Opening: the accounts of a scope, signed in to from this machine."""

from dataclasses import replace

from plimsoll.bootstrap.clocks import clock
from plimsoll.clouds.aws.accounts import sign_in
from plimsoll.clouds.aws.connection import connection_of
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.registry import AWS
from plimsoll.clouds.scope import Scope
from plimsoll.settings import Settings
from plimsoll_change.aws.changer import AwsChanger
from plimsoll_change.ports import ChangeTools


def open_accounts_of(scope: Scope, settings: Settings) -> ChangeTools:
    """The volumes of a scope's accounts, signed in to, and their metrics."""
    here = replace(scope, clouds=(AWS,))
    sessions = sign_in(replace(here, regions=()), settings)
    return ChangeTools(
        changer=AwsChanger(sessions=sessions, now=clock().now, list_deadline_s=settings.list_deadline_s),
        metrics=connection_of(sessions, Reach(scope=here, settings=settings, today=clock().now().date())).metrics,
    )
