"""What the disks of Google's machine types carry together, literally as data/machines.yaml has it."""

from pathlib import Path

import yaml

DATA = Path(__file__).parents[2] / "lib" / "plimsoll_google" / "data"
MACHINES = yaml.safe_load((DATA / "machines.yaml").read_text(encoding="utf-8"))


def limit_of(figures):
    """Read and write IOPS, read and write MiB/s as a limit: (IOPS, MiB/s, c, d), counted in reads."""
    read_iops, write_iops, read_mib_s, write_mib_s = figures
    return read_iops, read_mib_s, read_iops / write_iops, read_mib_s / write_mib_s


def figures_of(sizes, name):
    """Those of a machine type's name, of the end of it, or of its vCPUs."""
    end = name.split("-")[-1]
    for known in (name, end):
        if known in sizes:
            return sizes[known]
    vcpus = MACHINES["vcpus"].get(name) or int(end)
    for span, figures in sizes.items():
        least, _, most = span.replace("+", "-1000000").partition("-")
        if least.isdigit() and int(least) <= vcpus <= int(most or least):
            return figures
    return None


def machine_of(name):
    """A machine type's limits by disk type, and that of all its disks; of an unknown one nothing."""
    series = MACHINES["series"].get(name.split("-")[0])
    if series is None:
        return {"caps": {}, "limit": None}
    found = {kind: figures_of(sizes, name) for kind, sizes in series["types"].items()}
    found = {kind: figures for kind, figures in found.items() if figures is not None}
    if series.get("regional"):
        zonal = [kind for kind in found if kind.startswith("pd-") and kind != "pd-extreme"]
        found |= {f"regional-{kind}": found[kind] for kind in zonal}
    caps = {kind: limit_of(figures) for kind, figures in found.items()}
    return {"caps": caps, "limit": limit_of([max(side) for side in zip(*found.values(), strict=True)])}
