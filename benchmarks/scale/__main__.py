"""Audits a share of an organization by the deployed state machine, and says what each step took. `make scale`.

`python -m benchmarks.scale --share 0.1` audits 1,700 targets with 100,300 volumes. What it measured is kept as JSON;
`--write` puts what is kept of this commit into README.md of this folder.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Final

from benchmarks.scale.fleet import REGIONS, TARGET_VOLUMES, accounts_of
from benchmarks.scale.functions import ROOT, Lambda, functions_of, tally, worlds
from benchmarks.scale.limits import control_groups
from benchmarks.scale.machine import Machine
from benchmarks.scale.objects import Objects
from benchmarks.scale.page import AUDIT, INVENTORY, KEPT, write
from benchmarks.scale.recorded import Recorded
from benchmarks.scale.step import Step
from tests.machines.templates import Templates

_HOME: Final = "100000000000"
_RUN: Final = "scale"


def main() -> None:
    """Runs one share, or writes the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="the share of 4,250 accounts in 4 regions")
    parser.add_argument("--slots", type=int, default=os.cpu_count() or 1, help="functions under way at once")
    parser.add_argument("--folder", type=Path, help="where the bucket lies while it runs (default: a temporary folder)")
    parser.add_argument(
        "--called", type=int, help="accounts that functions are called for; what others come to is copied from them"
    )
    parser.add_argument("--write", action="store_true", help="write what was measured into README.md of this folder")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was mounted and bounded is taken down then as well
    if options.write:
        write()
        return
    folder = options.folder or Path(mkdtemp(prefix="plimsoll-scale-"))
    folder.mkdir(exist_ok=True)
    try:
        found = run(options.share, options.slots, folder, called=options.called)
    finally:
        if options.folder is None:
            rmtree(folder)
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{options.share:g}.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


def run(share: float, slots: int, folder: Path, *, called: int | None) -> dict[str, Any]:
    """What an audit of that share took; of accounts beyond `called` ones, copies."""
    templates = _synthesized(folder / "cdk.out")
    functions = functions_of(templates)
    (machine,) = (one for one in templates.resources("AWS::StepFunctions::StateMachine") if one.name.endswith("-audit"))
    config = next(one for one in templates.resources("AWS::SSM::Parameter")).properties["Value"]
    now = datetime.now(UTC).replace(microsecond=0)
    commit, began_s = _commit(), time.monotonic()
    told = {"now": now.isoformat(), "folder": str(folder), "accounts": accounts_of(share), "config": config}
    with worlds(slots, told) as ports:
        runner = Lambda(functions=functions, ports=ports, folder=folder)
        execution = {
            "Id": templates.arn(machine).replace(":stateMachine:", ":execution:") + f":{_RUN}",
            "Name": _RUN,
            "StartTime": now.isoformat(),
            "Input": {},
        }
        arns = {one.name: arn for arn, one in functions.items()}
        copies = Recorded(
            objects=Objects(folder),
            inventory=partial(runner.invoke, arns[INVENTORY]),
            audit=partial(runner.invoke, arns[AUDIT]),
            accounts=called or len(accounts_of(share)),
        )
        apart = {arns[INVENTORY]: copies.take, arns[AUDIT]: copies.answer}

        def invoke(arn: str, event: Any) -> Any:
            return apart[arn](event) if called and arn in apart else runner.invoke(arn, event)

        carried = Machine(
            definition=json.loads(machine.properties["DefinitionString"]),
            invoke=invoke,
            content=Objects(folder).content,
            execution=execution,
            at_once=slots,
        )
        try:
            output = carried.run()
        finally:
            runner.close()
            _say(carried)
        tallies = [tally(port) for port in ports]
    volumes = len(accounts_of(share)) * len(REGIONS) * TARGET_VOLUMES
    return {
        "commit": commit,
        "date": f"{now:%Y-%m-%d}",
        "machine": f"{platform.machine()}, {slots} cores, Python {platform.python_version()}",
        "groups": control_groups(),
        "share": share,
        "targets": len(accounts_of(share)) * len(REGIONS),
        "volumes": volumes,
        "called": copies.volumes if called else volumes,
        "seconds": time.monotonic() - began_s,
        "output": output,
        "transitions": sum(carried.entered.values()),
        "retried": dict(carried.retried),
        "caught": dict(carried.caught),
        "objects": _sizes(Objects(folder)),
        "steps": [Step.of(one, runner.spent[one.name], tallies).plain for one in _ran(functions, runner)],
    }


def _ran(functions: Any, runner: Lambda) -> list[Any]:
    by_name = {one.name: one for one in functions.values()}
    return [by_name[name] for name in runner.spent]


def _synthesized(folder: Path) -> Templates:
    """The templates as `make deploy` would have them, for an organization in these regions."""
    settings = {"ORGANIZATION": "true", "REGIONS": ",".join(REGIONS), "EXTERNAL_ID": "scale", "ASSETS": "empty"}
    given = {f"PLIMSOLL_DEPLOY_{name}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "infra.app"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **given, "CDK_OUTDIR": str(folder)}, check=True)  # noqa: S603  # our own
    return Templates.read(folder, account=_HOME, region=REGIONS[0])


def _sizes(objects: Objects) -> dict[str, dict[str, int]]:
    """How many objects the run left in each folder of the bucket, their bytes, and those of the largest."""
    counts, sizes, largest = Counter[str](), Counter[str](), Counter[str]()
    for key, size in objects.sizes(""):
        top = "/".join(key.split("/")[:2]) if key.startswith("runs/") else key.split("/")[0]
        counts[top] += 1
        sizes[top] += size
        largest[top] = max(largest[top], size)
    return {top: {"objects": counts[top], "bytes": sizes[top], "largest": largest[top]} for top in sorted(counts)}


def _say(carried: Machine) -> None:
    for what, counted in (("retried", carried.retried), ("caught", carried.caught)):
        for why, count in counted.most_common(5):
            sys.stderr.write(f"{what} {count} times: {why[:400]}\n")


def _commit() -> str:
    words = ("git", "describe", "--always", "--dirty")
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603  # git


if __name__ == "__main__":
    main()
