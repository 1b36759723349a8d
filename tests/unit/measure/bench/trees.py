"""What lsblk, mdadm and lvs print on hosts whose volumes are one device, as those tools print it."""

COLUMNS = ("name", "kname", "type", "size", "serial", "fstype", "mountpoint", "pkname")


def a_node(
    name, kind="disk", *, kname=None, serial=None, fstype=None, mount=None, parent=None, size=1 << 40, children=()
):
    values = (name, kname or name, kind, size, serial, fstype, mount, parent)
    node = dict(zip(COLUMNS, values, strict=True))
    return node | ({"children": list(children)} if children else {})


ROOT = a_node(
    "nvme0n1",
    serial="vol0aaaaaaaaaaaaaaa0",
    children=[a_node("nvme0n1p1", "part", fstype="xfs", mount="/", parent="nvme0n1")],
)
"""The root volume, which is on its own."""


def _md(parent):
    return a_node("md0", "raid0", fstype="xfs", mount="/var/lib/data", parent=parent)


def _member(number, child, fstype="linux_raid_member"):
    name = f"nvme{number}n1"
    return a_node(name, serial=f"vol0aaaaaaaaaaaaaaa{number}", fstype=fstype, children=[child(name)])


RAID0 = {"blockdevices": [ROOT, _member(1, _md), _member(2, _md)]}
"""Two volumes as one RAID-0; lsblk shows the array under each of them."""

RAID0_EXPORT = """\
MD_LEVEL=raid0
MD_DEVICES=2
MD_METADATA=1.2
MD_UUID=6c5f4d9a:8b1e2f30:1d2c3b4a:5f6e7d8c
MD_NAME=ip-10-0-0-12:0
MD_DEVICE_dev_nvme1n1_ROLE=0
MD_DEVICE_dev_nvme1n1_DEV=/dev/nvme1n1
MD_DEVICE_dev_nvme2n1_ROLE=1
MD_DEVICE_dev_nvme2n1_DEV=/dev/nvme2n1
"""

RAID0_DETAIL = """\
/dev/md0:
           Version : 1.2
     Creation Time : Tue Mar  3 09:12:44 2026
        Raid Level : raid0
        Array Size : 2147219456 (2.00 TiB 2.20 TB)
      Raid Devices : 2
     Total Devices : 2
       Persistence : Superblock is persistent
             State : clean
        Chunk Size : 512K
    Number   Major   Minor   RaidDevice State
       0     259        1        0      active sync   /dev/sdf
       1     259        2        1      active sync   /dev/nvme2n1
"""


def _lv(parent):
    return a_node("vg--data-store", "lvm", kname="dm-0", fstype="ext4", mount="/srv/store", parent=parent)


def _part_of_lvm(disk):
    name = f"{disk}p1"
    return a_node(name, "part", fstype="LVM2_member", parent=disk, children=[_lv(name)])


LVM = {"blockdevices": [ROOT, *(_member(number, _part_of_lvm, fstype=None) for number in (1, 2, 3))]}
"""Three volumes, a partition of each, as one striped logical volume."""


def lvs(*rows):
    keys = ("lv_name", "vg_name", "segtype", "stripes", "stripe_size")
    return {"report": [{"lv": [dict(zip(keys, row, strict=True)) for row in rows]}]}


LVM_LVS = lvs(("store", "vg-data", "striped", "3", "64.00"))
