"""The canary tells how old the latest report is, and nothing where there is none."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plimsoll.model.errors import BadInput
from plimsoll.reports.run_files import RUN
from plimsoll_service.canary import read_audit_age
from plimsoll_service.store_keys import RunKeys
from tests.builders import NOW
from tests.in_memory.ports import MemoryClock
from tests.service_loop import Loop
from tests.unit.service.places import places_of, service_of, volumes


def after(service, hours):
    return replace(service, clock=MemoryClock(time=NOW + timedelta(hours=hours)))


def test_without_a_report_there_is_no_age(tmp_path):
    assert read_audit_age(service_of(places_of(volumes(1)), tmp_path)).audit_age_h is None


@pytest.mark.parametrize("hours", [0, 30.5, 400])
def test_a_report_is_as_old_as_the_time_that_it_answers_for(tmp_path, hours):
    loop = Loop(service=service_of(places_of(volumes(1)), tmp_path), now=NOW)
    loop.run()
    seen = read_audit_age(after(loop.service, hours))
    assert (seen.run_id, seen.audit_age_h) == ("first", hours)


def test_a_report_that_is_named_and_is_not_there_is_an_error(tmp_path):
    loop = Loop(service=service_of(places_of(volumes(1)), tmp_path), now=NOW)
    loop.run()
    loop.service.store.delete(RunKeys(run_id="first").report(RUN))
    with pytest.raises(BadInput, match="reports/first"):
        read_audit_age(loop.service)
