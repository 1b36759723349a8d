"""EC2's answers about snapshots, images, launch templates and fast restores, as XML."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from cloud_simulator.aws import ec2_xml as xml
from cloud_simulator.aws.ec2_request import Item, Parameters, list_values, page
from cloud_simulator.aws.keeping import SimulatedImage, SimulatedRestore, SimulatedSnapshot
from cloud_simulator.aws.scratch_volumes import AccountRegion
from cloud_simulator.faults import Refused


def list_items(
    root: ET.Element, name: str, asked: Parameters, items: Sequence[Item], write: Callable[[ET.Element, Item], None]
) -> None:
    """One page of items under a named element, and the token of the next page."""
    shown, token = page(asked, items)
    into = ET.SubElement(root, name)
    for item in shown:
        write(ET.SubElement(into, "item"), item)
    xml.texts(root, nextToken=token)


def _snapshots(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    def write(item: ET.Element, snapshot: SimulatedSnapshot) -> None:
        xml.texts(
            item,
            snapshotId=snapshot.id,
            volumeId=snapshot.volume_id,
            volumeSize=snapshot.size_gib,
            startTime=xml.time(snapshot.started),
            status="completed",
            progress="100%",
            ownerId=here.account,
            description=snapshot.description,
            storageTier="archive" if snapshot.archived else "standard",
            fullSnapshotSizeInBytes=len(snapshot.blocks) << 30 if snapshot.told_gib else None,
        )
        xml.tags(item, snapshot.tags)

    list_items(root, "snapshotSet", asked, here.keeping.snapshots, write)


def _locks(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    locked = [snapshot for snapshot in here.keeping.snapshots if snapshot.locked]
    list_items(
        root,
        "snapshotSet",
        asked,
        locked,
        lambda item, snapshot: xml.texts(item, snapshotId=snapshot.id, lockState="compliance"),
    )


def _restores(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    def write(item: ET.Element, restore: SimulatedRestore) -> None:
        since = xml.time(restore.since)
        xml.texts(item, snapshotId=restore.snapshot_id, availabilityZone=restore.zone, state="enabled")
        xml.texts(item, enablingTime=since, enabledTime=since)

    list_items(root, "fastSnapshotRestoreSet", asked, here.keeping.restores, write)


def _images(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    def write(item: ET.Element, image: SimulatedImage) -> None:
        launched = None if image.launched is None else xml.time(image.launched)
        xml.texts(item, imageId=image.id, imageState="available", imageOwnerId=here.account)
        xml.texts(item, creationDate=xml.time(image.created), isPublic=xml.boolean(image.public))
        xml.texts(item, lastLaunchedTime=launched)
        devices = ET.SubElement(item, "blockDeviceMapping")
        for number, snapshot in enumerate(image.snapshots):
            device = ET.SubElement(devices, "item")
            xml.texts(device, deviceName=f"/dev/sd{'abcdef'[number]}")
            xml.texts(ET.SubElement(device, "ebs"), snapshotId=snapshot)

    list_items(root, "imagesSet", asked, here.keeping.images, write)


def _versions(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    latest, wanted = list_values(asked, "LaunchTemplateVersion") == ["$Latest"], asked.get("LaunchTemplateId")
    versions = [
        (name, number, image)
        for name, images in here.keeping.templates.items()
        for number, image in enumerate(images, start=1)
        if wanted in {None, name} and (not latest or number == len(images))
    ]

    def write(item: ET.Element, version: tuple[str, int, str]) -> None:
        xml.texts(item, launchTemplateId=version[0], versionNumber=version[1])
        xml.texts(ET.SubElement(item, "launchTemplateData"), imageId=version[2])

    list_items(root, "launchTemplateVersionSet", asked, versions, write)


def _snapshot_grants(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    shared = {snapshot.id: snapshot.shared for snapshot in here.keeping.snapshots}
    _grants(root, "createVolumePermission", shared, asked.get("SnapshotId", ""), "InvalidSnapshot.NotFound")


def _image_grants(root: ET.Element, asked: Parameters, here: AccountRegion) -> None:
    shared = {image.id: image.shared for image in here.keeping.images}
    _grants(root, "launchPermission", shared, asked.get("ImageId", ""), "InvalidAMIID.NotFound")


def _grants(root: ET.Element, field: str, shared: Mapping[str, Sequence[str]], name: str, code: str) -> None:
    if name not in shared:
        raise Refused(code, f"{name} does not exist.")
    grants = ET.SubElement(root, field)
    for account in shared[name]:
        xml.texts(ET.SubElement(grants, "item"), userId=account)


READS: Final[Mapping[str, Callable[[ET.Element, Parameters, AccountRegion], None]]] = {
    "DescribeFastSnapshotRestores": _restores,
    "DescribeImageAttribute": _image_grants,
    "DescribeImages": _images,
    "DescribeLaunchTemplateVersions": _versions,
    "DescribeLockedSnapshots": _locks,
    "DescribeSnapshotAttribute": _snapshot_grants,
    "DescribeSnapshots": _snapshots,
}
"""What EC2 answers of what an account keeps, by action."""
