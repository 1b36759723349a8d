"""Records as hypothesis draws them, and names as tags may hold them."""

from hypothesis import strategies as st

from plimsoll.decide.answer import ChangeSteps, command_step
from plimsoll.model.kinds import CHANGES
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER, BlockerRecord, EvidenceRecord, LossRecord
from tests.unit.reports.recommendations import a_risk, every_action

HOSTILE = (
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "@channel",
    "a|b",
    "`ticks` and ``more``",
    "[a link](http://example.org)",
    "![picture](http://example.org/x.png)",
    "# heading",
    "- item",
    "\\|",
    "a\\",
    "</td></tr>",
    "| --- |",
    "org/repo#1 GH-2 #3 http://x.org www.x.org",
    "$x^2$ ~~gone~~ **bold** _it_ :smile:",
    "```",
    "데이터 볼륨 \U0001f4be",
    "'; drop table x; --",
    "{{ jinja }} {% raw %}",
    "0123",
    " leading and trailing ",
    "</script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\u202egnp.exe\u202c \u200f",
    "line one\nline two\r\ttabbed",
    "🚢 volume & friends &amp; &lt;b&gt;",
    "{{ 7 * 7 }} ${1+1}",
    "x" * 4096,
)
"""Names that anybody may give by a tag."""

SIGNS = "abz019 \t\n\r\"'`\\|<>[](){}#*_-+=~!@$%^&:;,./?\u200b\uff1d\uff0b\u2028"

names = st.one_of(
    st.sampled_from(HOSTILE), st.text(SIGNS, max_size=30), st.text(st.characters(codec="utf-8"), max_size=30)
)
cents = st.integers(-100_000, 1_000_000).map(lambda amount: amount / 100)


@st.composite
def records(draw, volume_id="vol-1", named=names):
    """A recommendation of any action, with any money, evidence and blockers, and any name."""
    action = draw(st.sampled_from([*CHANGES, "keep", "wait", "detached", "insufficient-data"]))
    grade = draw(st.sampled_from(["A", "B", "C", None]))
    losses = draw(st.sampled_from([[], [LossRecord(code="durability", now="99.999 %", then="99.8 %")]]))
    cuts = draw(st.sampled_from([[], ["IOPS"], ["IOPS", "MiB/s"]]))
    promised_pct = draw(st.sampled_from([None, 0.5, 5.0, 5.1, 50.0]))
    codes = draw(st.lists(st.sampled_from(["evidence", "operator-managed", "state"]), max_size=3))
    given_record = record_of(
        every_action()[action], ChangeSteps(forth=(command_step("change it"),)), provider=FIRST_PROVIDER
    )
    owner = given_record.owner.model_copy(update={"name": draw(st.none() | named)})
    return given_record.model_copy(
        update={
            "volume_id": volume_id,
            "name": draw(st.none() | named),
            "monthly_usd_now": draw(st.none() | st.integers(0, 1_000_000).map(lambda amount: amount / 100)),
            "monthly_usd_saved": 0.0 if action == "wait" else draw(cents),
            "monthly_usd_saved_drop_in": 0.0 if action == "wait" else draw(cents),
            "evidence": None if grade is None else EvidenceRecord(grade=grade, envelope=None, text="measured"),
            "losses": losses,
            "cuts": cuts,
            "risk": draw(st.sampled_from([None, a_risk(promised_pct), a_risk(promised_pct, allowed_pct=50.0)])),
            "blockers": [BlockerRecord(code=code, text=code) for code in codes],
            "owner": owner,
        }
    )


@st.composite
def fleets(draw, most=8):
    """Several recommendations of different volumes."""
    count = draw(st.integers(0, most))
    return [draw(records(volume_id=f"vol-{number}")) for number in range(count)]
