"""What saves too little alone asks its past as well, for the change of all that its template makes."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Keep
from plimsoll.model.volume import Owner, OwnerKind
from tests.builders import a_host, a_spec, a_volume
from tests.profiles import examples
from tests.unit.domain.lives import A_LIFE_AGO, DAY, PAST_MINUTES, a_life, flat_with, judged


def part(*events, owner):
    host = a_host()
    boot = replace(a_volume(on=host, boot=True).attachments[0], device="/dev/xvda")
    volume = replace(a_volume("gp2", 40, created=A_LIFE_AGO, owner=owner), attachments=(boot,))
    found, _ = judged([volume], {volume.id: a_life(flat_with(100, *events))})
    answer = found[volume.id].recommendation
    assert isinstance(answer, Keep)
    return answer.part


def test_an_event_of_the_past_leaves_what_keeps_all_limits():
    owner = Owner(kind=OwnerKind.AUTO_SCALING, name="web")
    calm, busy = part(owner=owner), part((20 * DAY, 120, 2800), owner=owner)
    assert calm.offer.spec == a_spec("gp3", 40)
    assert busy.offer.spec == a_spec("gp3", 40, iops=3000, throughput_mib_s=130)


def test_nothing_is_brought_where_no_template_is_known():
    assert part((20 * DAY, 120, 2800), owner=Owner(kind=OwnerKind.HAND)) is None


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, PAST_MINUTES), st.integers(1, 300), st.integers(100, 3000)), max_size=3),
    st.integers(20, 49),
    st.integers(20, 3000),
)
def test_what_it_brings_is_what_every_minute_would_give(events, size_gib, rate):
    host = a_host()
    boot = replace(a_volume(on=host, boot=True).attachments[0], device="/dev/xvda")
    owner = Owner(kind=OwnerKind.AUTO_SCALING, name="web")
    volume = replace(a_volume("gp2", size_gib, created=A_LIFE_AGO, owner=owner), attachments=(boot,))
    lives = {volume.id: a_life(flat_with(rate, *events))}
    least, most = (judged([volume], lives, every_minute=whole)[0] for whole in (False, True))
    assert least[volume.id].recommendation.part == most[volume.id].recommendation.part
