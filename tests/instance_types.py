"""What AWS hosts carry, as `lib/plimsoll/clouds/aws/data/hosts.yaml` has it: made of DescribeInstanceTypes.

python -m tests.instance_types --write                    # of moto's copy of the answers of all regions
python -m tests.instance_types --write types.json         # of `aws ec2 describe-instance-types` as JSON
"""

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

TARGET: Final = Path(__file__).parents[1] / "lib/plimsoll/clouds/aws/data/hosts.yaml"
FIGURES: Final = ("BaselineIops", "MaximumIops", "BaselineThroughputInMBps", "MaximumThroughputInMBps")

HEAD: Final = """\
# What the volumes of an instance carry together, by its type: [baseline IOPS, maximum IOPS, baseline MB/s, maximum
# MB/s] (10^6 bytes), as DescribeInstanceTypes answers (EbsOptimizedInfo). A type with null publishes none.
# `python -m tests.instance_types --write` makes this file again.
"""


def described(path: Path | None = None) -> Iterator[Mapping[str, Any]]:
    """The entries of DescribeInstanceTypes, in a file, or in moto's copy."""
    if path is not None:
        yield from json.loads(path.read_text(encoding="utf-8"))["InstanceTypes"]
        return
    with gzip.open(str(files("moto.ec2") / "resources" / "instance_types.json.gz"), "rt", encoding="utf-8") as copied:
        yield from json.load(copied).values()


def figures(entry: Mapping[str, Any]) -> list[float] | None:
    """The four figures of an entry; None where it publishes none."""
    info = entry.get("EbsInfo", {}).get("EbsOptimizedInfo")
    return None if info is None else [info[name] for name in FIGURES]


def text(entries: Iterator[Mapping[str, Any]], source: str) -> str:
    """The whole file."""
    rows = {entry["InstanceType"]: figures(entry) for entry in entries}
    lines = [f"  {name}: {json.dumps(found)}" for name, found in sorted(rows.items())]
    head = f"verified_on: {datetime.now(UTC).date()}\nsource: {source}\nhosts:\n"
    return HEAD + head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    named = [Path(one) for one in sys.argv[1:] if one != "--write"]
    told = "AWS DescribeInstanceTypes" + ("" if named else f" (moto {version('moto')} data)")
    made = text(described(named[0] if named else None), told)
    if "--write" in sys.argv:
        TARGET.write_text(made, encoding="utf-8")
    else:
        sys.stdout.write(made)
