"""The search for a volume by what people call it, in the latest report and then in the accounts."""

import re

from plimsoll.clouds.registry import volume_pattern
from plimsoll.clouds.targets import named_target
from plimsoll.model.errors import BadInput
from plimsoll.model.volume_names import choose_volume, quote_word
from plimsoll.ports import Target
from plimsoll.reports.run_files import RECOMMENDATIONS
from plimsoll.reports.run_reader import name_of_record
from plimsoll_service.latest_report import latest_report
from plimsoll_service.service import Service
from plimsoll_service.store_keys import RunKeys
from plimsoll_service.streams import records_in
from plimsoll_service.target_ports import find_place


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
        return find_place(name, now, service)
    where = "there is no report yet that knows names" if latest is None else "the latest report has none of that name"
    raise BadInput(f"there is no volume {quote_word(name)}: {where}. Give its id.")
