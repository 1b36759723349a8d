"""The picture of savings by account: a bar each, the largest first, and the long tail as one."""

from collections.abc import Mapping, Sequence
from typing import Final

from plimsoll.reports.charts.pictures import Picture, Row, picture_name
from plimsoll.reports.steps import CENT
from plimsoll.reports.wording import count_of, usd

ACCOUNTS: Final = "accounts"
SHOWN_ACCOUNTS: Final = 12
"""Accounts that have a bar of their own."""


def savings_chart(by_account: Mapping[str, float]) -> Picture:
    """The picture of what can be saved in each account, in USD a month; accounts with nothing to save are counted."""
    saving = {account: usd_month for account, usd_month in by_account.items() if usd_month >= CENT}
    ordered = sorted(saving, key=lambda account: (-saving[account], account))
    rows = [_row(picture_name(account), saving[account]) for account in ordered[:SHOWN_ACCOUNTS]]
    tail = ordered[SHOWN_ACCOUNTS:]
    if tail:
        others_usd = sum(saving[account] for account in tail)
        rows.append(_row(count_of(len(tail), "other account"), others_usd, other=True))
    idle = len(by_account) - len(saving)
    return Picture(
        kind="savings",
        subject="",
        title=_title(ordered, saving),
        subtitle=f"{count_of(idle, 'account')} {'has' if idle == 1 else 'have'} nothing to save." if idle else "",
        datasets={ACCOUNTS: rows},
    )


def _title(ordered: Sequence[str], saving: Mapping[str, float]) -> str:
    if not ordered:
        return "There is nothing to save in any account"
    first, most = picture_name(ordered[0]), usd(saving[ordered[0]])
    if len(ordered) == 1:
        return f"Account {first} can save {most} a month"
    return f"Account {first} can save the most: {most} of {usd(sum(saving.values()))} a month"


def _row(account: str, usd_month: float, *, other: bool = False) -> Row:
    return {"account": account, "usd_month": usd_month, "amount": usd(usd_month), "other": other}
