"""The emulator with what EC2 always sends and its answers lack. The emulator's own Python runs this file.

Without it a client that refuses incomplete answers finds nothing to audit. Each function here stands before one of the
emulator's (`ministack.services.ec2`, at the version of requirements.txt) and says what it adds.
"""

import time

from ministack.app import main
from ministack.services import ec2

HOSTS = {
    "m4.2xlarge": ("xen", (1000, 125.0, 8000, 1000, 125.0, 8000)),
    "m5.2xlarge": ("nitro", (2300, 287.5, 12000, 4750, 593.75, 18750)),
}
"""The hypervisor, then the baseline and the maximum in Mbps, MB/s (10^6) and IOPS ("Amazon EBS-optimized instance
types", EC2 User Guide)."""

SPEC = ("Size", "VolumeType", "Iops", "Throughput")

AGE_S = 2 * 86400
"""All that is made here is as old as the metrics that estate.py puts: EC2 has none from before a volume."""

volume_xml, make_volume, change_volume = ec2._volume_inner_xml, ec2._create_volume, ec2._modify_volume


def made_at() -> str:
    """When what is made now was made and attached, as the emulator tells it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - AGE_S))


def gp2_iops(size_gib: int) -> int:
    """3 IOPS a GiB, from 100 to 16,000 ("General Purpose SSD volumes", EBS User Guide)."""
    return min(max(3 * size_gib, 100), 16000)


def with_rates(volume: dict) -> str:
    """EC2 shows the throughput of gp3 and the IOPS of gp2."""
    found = volume_xml(volume)
    if volume["VolumeType"] == "gp3":
        found += f"<throughput>{volume['Throughput']}</throughput>"
    if volume["VolumeType"] == "gp2":
        found += f"<iops>{gp2_iops(volume['Size'])}</iops>"
    return found


def created(params: dict) -> tuple:
    """EC2 makes gp3 of the throughput that is asked for."""
    before, answer = set(ec2._volumes), make_volume(params)
    for volume_id in set(ec2._volumes) - before:
        if asked := ec2._p(params, "Throughput"):
            ec2._volumes[volume_id]["Throughput"] = int(asked)
    return answer


def changed(params: dict) -> tuple:
    """EC2 remembers what a volume was before it was modified, and changes its throughput too."""
    volume = ec2._volumes.get(ec2._p(params, "VolumeId"))
    if volume is None:
        return change_volume(params)
    before, now = {key: volume[key] for key in SPEC}, ec2._now_ts()
    answer = change_volume(params)
    if asked := ec2._p(params, "Throughput"):
        volume["Throughput"] = int(asked)
    volume["Modified"] = (before, now)
    return answer


def modifications(params: dict) -> tuple:
    """EC2 names volumes that were modified, and no others, each with what it was and what it became."""
    asked = ec2._parse_member_list(params, "VolumeId")
    found = [one for one in ec2._volumes.values() if "Modified" in one and (not asked or one["VolumeId"] in asked)]
    items = "".join(f"<item>{modification(one)}</item>" for one in found)
    return ec2._xml(
        200, "DescribeVolumesModificationsResponse", f"<volumeModificationSet>{items}</volumeModificationSet>"
    )


def modification(volume: dict) -> str:
    """One modification, as EC2 writes it when it is done."""
    before, at = volume["Modified"]
    sides = "".join(
        f"<{side}{key}>{spec[key]}</{side}{key}>"
        for side, spec in (("original", before), ("target", volume))
        for name, key in (
            ("Size", "Size"),
            ("VolumeType", "VolumeType"),
            ("Iops", "Iops"),
            ("Throughput", "Throughput"),
        )
        if key != "Throughput" or spec["VolumeType"] == "gp3"
    )
    return (
        f"<volumeId>{volume['VolumeId']}</volumeId><modificationState>completed</modificationState>{sides}"
        f"<startTime>{at}</startTime><endTime>{at}</endTime><progress>100</progress>"
    )


def host_types(params: dict) -> tuple:
    """EC2 knows the types that a filter names, each with its published limits."""
    named = (
        ec2._parse_member_list(params, "InstanceType") or ec2._parse_filters(params).get("instance-type") or [*HOSTS]
    )
    items = "".join(f"<item>{host_type(name)}</item>" for name in named if name in HOSTS)
    return ec2._xml(200, "DescribeInstanceTypesResponse", f"<instanceTypeSet>{items}</instanceTypeSet>")


def host_type(name: str) -> str:
    """One type of instance with its limits for EBS."""
    keys = [f"{at}{what}" for at in ("baseline", "maximum") for what in ("BandwidthInMbps", "ThroughputInMBps", "Iops")]
    hypervisor, figures = HOSTS[name]
    limits = "".join(f"<{key}>{value}</{key}>" for key, value in zip(keys, figures, strict=True))
    return (
        f"<instanceType>{name}</instanceType><currentGeneration>true</currentGeneration>"
        f"<hypervisor>{hypervisor}</hypervisor>"
        f"<ebsInfo><ebsOptimizedSupport>default</ebsOptimizedSupport><encryptionSupport>supported</encryptionSupport>"
        f"<ebsOptimizedInfo>{limits}</ebsOptimizedInfo><nvmeSupport>required</nvmeSupport></ebsInfo>"
    )


if __name__ == "__main__":
    ec2._volume_inner_xml, ec2._now_ts = with_rates, made_at
    ec2._ACTION_MAP |= {
        "CreateVolume": created,
        "ModifyVolume": changed,
        "DescribeVolumesModifications": modifications,
        "DescribeInstanceTypes": host_types,
    }
    main()
