"""The opening of a report: what can be saved, how sure that is, and how complete the run was."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.domain.policy import Policy
from plimsoll.reports.steps import CENT
from plimsoll.reports.summary.headline import headline, unended
from plimsoll.reports.summary.step_words import judged_by
from plimsoll.reports.totals import Totals
from plimsoll.reports.wording import usd
from plimsoll.slack.blocks.digest import Sums
from plimsoll.slack.blocks.elements import Block, bold, header, said
from plimsoll.slack.blocks.text import line

_PURPOSE: Final = (
    "Plimsoll compares what cloud disks are asked for with what is paid for, and recommends cheaper ones that still "
    "carry the work."
)


def first_sentence(sums: Sums, run: Mapping[str, Any], part: str) -> str:
    """What can be saved of what, in one sentence."""
    return headline(sums.totals, run, whole=not part)


def opening(sums: Sums, run: Mapping[str, Any], policy: Policy, part: str) -> Iterator[Block]:
    """The title, and a paragraph for somebody who has never heard of Plimsoll."""
    yield header(first_sentence(sums, run, part).removesuffix("."))
    if told := unended(run):
        yield said(bold("Partial. "), told)
    about = f"This report is of {line(part)} alone." if part else ""
    known = f"{_PURPOSE} {_how_sure(sums.totals, policy)}" if sums.totals.answered else ""
    if told := f"{about} {known}".strip():
        yield said(told)


def _how_sure(totals: Totals, policy: Policy) -> str:
    """How much of the saving needs no proof and how much rests on what was measured; empty where nothing is saved."""
    if totals.usd_saved < CENT:
        return ""
    carries = f"the measured demand: the cheaper ones carry {judged_by(policy)}."
    kept = "would be saved even with all of today's IOPS and MiB/s kept"
    if totals.usd_saved_drop_in < CENT:
        return f"The saving rests on {carries}"
    if totals.usd_saved_on_proof < CENT:
        return f"All of the saving {kept}."
    return f"{usd(totals.usd_saved_drop_in)} {kept}; the other {usd(totals.usd_saved_on_proof)} rests on {carries}"
