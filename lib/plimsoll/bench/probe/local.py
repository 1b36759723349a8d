"""A probe of devices of this machine, by the script that hosts run."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from plimsoll.bench.probe import on_host
from plimsoll.bench.probe.answer import read_probe
from plimsoll.domain.errors import BadInput, NotMeasured
from plimsoll.domain.metrics.seconds_seen import SecondsSeen


def probe_here(devices: Sequence[str], seconds: int) -> tuple[Sequence[SecondsSeen], Sequence[str]]:
    """What is seen of these devices, and those that are none. After Ctrl-C that is what was seen until then.

    NotMeasured where the script fails, BadInput for a path that cannot be one of several.
    """
    odd = next((device for device in devices if "," in device), None)
    if odd is not None:
        raise BadInput(f"{odd} has a comma in its name, and devices are told apart by commas: give a link to it.")
    words = [sys.executable, str(Path(on_host.__file__)), ",".join(devices), str(seconds)]
    # In a session of its own, Ctrl-C in a terminal reaches us alone.
    with subprocess.Popen(  # noqa: S603  # our own script
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            said, complaint = process.communicate()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            said, complaint = process.communicate()
    if process.returncode:
        raise NotMeasured(f"this machine's devices cannot be read: {complaint.strip()[-200:]}. It needs Linux.")
    return read_probe(said)
