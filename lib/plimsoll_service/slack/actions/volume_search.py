"""The search for a volume by what people call it, in the latest report and then in the accounts."""

import re

from pydantic import BaseModel, ConfigDict

from plimsoll.clouds.registry import volume_pattern
from plimsoll.clouds.targets import named_target
from plimsoll.model.errors import BadInput
from plimsoll.model.volume_names import NamedVolume, choose_volume, nearest_hint, quote_word
from plimsoll.ports import Target
from plimsoll.reports.run_files import RECOMMENDATIONS
from plimsoll.reports.run_reader import name_of_record
from plimsoll_service.latest_report import LatestReport, latest_report
from plimsoll_service.service import Service
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.streams import read_items, records_in
from plimsoll_service.target_ports import find_place


class _NamedRecord(BaseModel):
    """The names of a recommendation's volume; the other keys are not read."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    account: str
    region: str
    volume_id: str
    name: str | None = None


def find_named(name: str, service: Service) -> tuple[Target, str]:
    """The target and id of a volume by what people call it (`volume_names`), as the latest report has it.

    An id that the report does not have is searched for in the accounts. Raises BadInput for a name that several
    volumes have, or none.
    """
    now, is_id = service.clock.now(), re.fullmatch(volume_pattern(), name) is not None
    latest = None if is_id and "/" in name else latest_report(service.store)
    if latest is not None:
        words = (word.encode() for word in re.findall(r"[A-Za-z0-9.-]+", name))
        records = records_in(service.store, RunKeys(run_id=latest.run_id).report(RECOMMENDATIONS), words)
        record = choose_volume(name, ((name_of_record(record), record) for record in records))
        if record is not None:
            return named_target(record.account, record.region), record.volume_id
    if is_id:
        try:
            return find_place(name, now, service)
        except BadInput as error:
            near = latest and _nearest(name, latest, service)
            if not near:
                raise
            raise BadInput(f"there is no volume {name} in the accounts of this service: {near}") from error
    if latest is None:
        raise BadInput(f"there is no volume {quote_word(name)}: there is no report yet that knows names. Give its id.")
    near = _nearest(name, latest, service) or "give its id."
    raise BadInput(f"there is no volume {quote_word(name)} in the latest report: {near}")


def _nearest(name: str, latest: LatestReport, service: Service) -> str:
    """A question after the report's volume whose id or Name tag is nearest; empty if none is near."""
    records = read_items(service.store, RunKeys(run_id=latest.run_id).report(RECOMMENDATIONS), _NamedRecord)
    volumes = (NamedVolume(record.account, record.region, record.volume_id, record.name) for record in records)
    return nearest_hint(name, volumes)
