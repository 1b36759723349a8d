"""The picture of savings by account: a bar each, the largest first, and the long tail as one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from plimsoll.reports.charts.picture import Picture, Row, plain
from plimsoll.reports.charts.theme import Theme
from plimsoll.reports.steps import CENT
from plimsoll.reports.wording import count_of, usd

ACCOUNTS: Final = "accounts"
SHOWN: Final = 12
"""Accounts that have a bar of their own."""

_NAME_PX: Final = 130
_BAR_PX: Final = 26
_DIGIT_PX: Final = 7
_GAP_PX: Final = 6
_EDGES_PX: Final = 10


def savings_chart(by_account: Mapping[str, float]) -> Picture:
    """The picture of what can be saved in each account, in USD a month; accounts with nothing to save are counted."""
    saving = {account: usd_month for account, usd_month in by_account.items() if usd_month >= CENT}
    ordered = sorted(saving, key=lambda account: (-saving[account], account))
    rows = [_row(plain(account), saving[account]) for account in ordered[:SHOWN]]
    tail = ordered[SHOWN:]
    if tail:
        rest = sum(saving[account] for account in tail)
        rows.append(_row(count_of(len(tail), "other account"), rest, other=True))
    idle = len(by_account) - len(saving)
    return Picture(
        kind="savings",
        subject="",
        title=_title(ordered, saving),
        subtitle=f"{count_of(idle, 'account')} {'has' if idle == 1 else 'have'} nothing to save." if idle else "",
        datasets={ACCOUNTS: rows},
    )


def savings_spec(theme: Theme, rows: Sequence[Row], width: int) -> dict[str, Any]:
    """The Vega-Lite spec of `savings_chart` for its rows, `width` pixels wide in all, a line for each of them."""
    most = max((row["usd_month"] for row in rows), default=1.0)
    plane_px = width - _NAME_PX - _EDGES_PX
    amount_px = _GAP_PX + _DIGIT_PX * max((len(row["amount"]) for row in rows), default=0)
    bars_px = max(1, plane_px - amount_px)
    scale = alt.Scale(domain=[0, most * plane_px / bars_px], nice=False)
    base = alt.Chart(alt.NamedData(name=ACCOUNTS)).encode(
        x=alt.X("usd_month", type="quantitative", axis=None, scale=scale),
        y=alt.Y(
            "account",
            type="nominal",
            sort=None,
            scale=alt.Scale(domain=[row["account"] for row in rows], paddingInner=0.25, paddingOuter=0.1),
            axis=_names(theme),
        ),
    )
    bars = base.mark_bar().encode(
        color=alt.condition("datum.other", alt.value(theme.muted), alt.value(theme.offered)),
        tooltip=[alt.Tooltip("account:N", title="account"), alt.Tooltip("amount:N", title="saved a month")],
    )
    amounts = base.mark_text(align="left", dx=_GAP_PX, baseline="middle").encode(
        text=alt.Text("amount", type="nominal")
    )
    chart = alt.LayerChart(layer=[bars, amounts], width=plane_px, height=_BAR_PX * max(1, len(rows)))
    return {**chart.to_dict(validate=False), "config": theme.config}


def _names(theme: Theme) -> alt.Axis:
    return alt.Axis(
        title=None,
        ticks=False,
        domain=False,
        labelColor=theme.text,
        labelFontSize=12,
        labelLimit=_NAME_PX - 10,
        labelPadding=8,
        minExtent=_NAME_PX,
        maxExtent=_NAME_PX,
    )


def _title(ordered: Sequence[str], saving: Mapping[str, float]) -> str:
    """Where most of the saving is, and how much that is."""
    if not ordered:
        return "There is nothing to save in any account"
    first, most = plain(ordered[0]), usd(saving[ordered[0]])
    if len(ordered) == 1:
        return f"Account {first} can save {most} a month"
    return f"Account {first} can save the most: {most} of {usd(sum(saving.values()))} a month"


def _row(account: str, usd_month: float, *, other: bool = False) -> Row:
    return {"account": account, "usd_month": usd_month, "amount": usd(usd_month), "other": other}
