"""People's words on a plan: files that they put into the bucket of facts, and what each becomes in the ledger.

    PLAN/words/NAME/FILE.json -> approved | resumed | stopped | taken-back, and said

Who may write under a name is bound by IAM, who may approve by the plan's rules and the service's.
"""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from plimsoll.model.errors import BadInput
from plimsoll.ports import FactStore
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind
from plimsoll_change.people import check_approver, note_approval, note_back, note_go_on, note_stop
from plimsoll_change.plan import ChangePlan
from plimsoll_change.rules import ChangeRules

NO_WORD: Final = "refused"
"""The code of a word that counts for nothing."""

_LONGEST_REASON: Final = 300
_MOST_BYTES: Final = 10_000


class PersonWord(BaseModel):
    """A person's word on a plan. An approval repeats the plan's digest, so that nobody approves what was not read."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    say: Literal["approve", "go-on", "stop", "back"]
    digest: str = ""
    accepts_late_back: bool = False
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=_LONGEST_REASON)] = ""
    change_class: str | None = None  # of go-on and back: this class alone
    volume_ids: tuple[str, ...] = ()  # of back: these alone

    def find_lines(self, plan: ChangePlan) -> list[str]:
        """The lines that a word to go back is about."""
        return [
            line.id
            for line in plan.lines
            if self.change_class in (None, line.change_class)
            and (not self.volume_ids or line.volume_id in self.volume_ids)
        ]


def words_key(plan_id: str, name: str = "", file: str = "") -> str:
    """The key of a word, or what stands before the keys of all words on a plan."""
    prefix = f"{plan_id}/words/"
    return f"{prefix}{name}/{file}.json" if name else prefix


def note_words(ledger: ChangeLedger, rules: ChangeRules, now: datetime) -> None:
    """Writes what people said since into the ledger, each word once.

    A word that counts for nothing is noted as refused, with the reason.
    """
    plan, known = ledger.plan, {fact.source for fact in ledger.facts(PLAN_ROW)}
    for key in list(ledger.store.keys(words_key(plan.id))):
        source = key.removeprefix(words_key(plan.id))
        if source in known:
            continue
        fact = Fact(kind=FactKind.SAID, at=now, by=source.partition("/")[0], source=source)
        try:
            word = _parse_word(ledger.store.get(key) or b"")
            check_word(plan, word, fact.by, rules)
            _carry_out(ledger, word, fact.by, now)
        except BadInput as error:
            fact = replace(fact, code=NO_WORD, text=str(error))
        else:
            fact = replace(fact, code=word.say, text=word.reason)
        # The last one: until it is there, the word is taken again, which does no harm.
        ledger.add_in_turn(PLAN_ROW, fact)


def _parse_word(content: bytes) -> PersonWord:
    if len(content) > _MOST_BYTES:
        raise BadInput(f"a word has at most {_MOST_BYTES:,} bytes, and this one has {len(content):,}.")
    try:
        return PersonWord.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise BadInput(f"this is no word: {key}: {first['msg']}.") from error


def check_word(plan: ChangePlan, word: PersonWord, by: str, rules: ChangeRules) -> None:
    """Raises BadInput for a word that counts for nothing, as far as its plan tells. Everybody may stop a plan."""
    if word.say == "stop":
        return
    check_approver(plan, by)
    if by not in rules.approvers:
        raise BadInput(f"{by} approves no changes: the service's rules name {', '.join(rules.approvers) or 'nobody'}.")
    if word.say == "approve" and word.digest != plan.digest:
        raise BadInput(f"the digest is not that of the plan {plan.id}: read the plan, and repeat {plan.digest}.")
    if word.say == "back" and not word.find_lines(plan):
        raise BadInput(f"the plan {plan.id} has none of these volumes.")


def _carry_out(ledger: ChangeLedger, word: PersonWord, by: str, now: datetime) -> None:
    match word.say:
        case "approve":
            late = word.accepts_late_back
            note_approval(ledger, by=by, at=now, reason=word.reason, accepts_late_back=late)
        case "go-on":
            note_go_on(ledger, by=by, at=now, reason=word.reason, only_class=word.change_class)
        case "stop":
            note_stop(ledger, by=by, at=now, reason=word.reason)
        case "back":
            note_back(ledger, word.find_lines(ledger.plan), by=by, at=now, reason=word.reason)


def keep_word(store: FactStore, plan_id: str, by: str, file: str, word: PersonWord) -> bool:
    """Puts a person's word where it is taken from; False if it is there already."""
    return store.put_new(words_key(plan_id, by, file), word.model_dump_json(exclude_defaults=True).encode())
