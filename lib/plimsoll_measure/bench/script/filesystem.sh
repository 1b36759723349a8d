# This part: the filesystem on a volume, and the one file that is measured there.

filesystem=''    # its type
filesystem_on='' # the device it is on: the volume, its partition, or what is built of it
mounted=''       # where it is mounted

# A block device and all that is built on it: partitions, md, LVM.
family() (
  echo "$1"
  for below in "/sys/class/block/$1/$1"*; do
    if [ -e "${below}/partition" ]; then family "${below##*/}"; fi
  done
  for below in "/sys/class/block/$1/holders"/*; do
    if [ -e "${below}" ]; then family "${below##*/}"; fi
  done
)

mount_id=''      # the kernel's number of that mount
places=''        # a line each: what must have room for the file, which is the mount and whatever lies below it

# Lines of device, type, the mount's number and its place of every filesystem on the volume; btrfs is known by its
# source alone.
mounts_of_family() {
  for member in $(family "${name}" | sort -u); do
    mapped=''
    [ ! -r "/sys/class/block/${member}/dm/name" ] || read -r mapped <"/sys/class/block/${member}/dm/name"
    awk -v numbers="$(cat "/sys/class/block/${member}/dev")" -v node="/dev/${member}" -v mapped="/dev/mapper/${mapped}" '{
      for (i = 7; i <= NF && $i != "-"; i++);
      if ($3 == numbers || $(i + 2) == node || $(i + 2) == mapped) print node, $(i + 1), $1, $5
    }' "/proc/$$/mountinfo"
  done
}

# Free KiB of a filesystem and its size; nothing where df does not tell them.
room_at() {
  df -P -k "$1" | awk 'NR == 2 && match($0, / +[0-9]+ +[0-9]+ +-?[0-9]+ +[0-9]+% /) {
    split(substr($0, RSTART, RLENGTH), told, " ")
    print told[3], told[1]
  }'
}

# Whether a filesystem writes where a file is, and has the room that it tells. btrfs and ZFS write elsewhere each time
# and share what they call free; overlay, network and FUSE filesystems tell the room of something else.
keeps_its_room() { case $1 in ext2 | ext3 | ext4 | xfs) ;; *) return 1 ;; esac }

# Whether all the storage below a device is there, and not promised until it is written: by names that are known to be
# so, down to the disks. Else `why` says what is not, or that it cannot be told. What a loop device's file lies on needs
# room for what it promises, and is added to `places`.
is_all_there() {
  below=$1 places=$2
  while [ -n "${below}" ]; do
    node=${below%% *} below=${below#"${below%% *}"}
    below=${below# }
    why="it is on ${node}, of which cannot be told whether all of its storage is there"
    if [ -e "/sys/class/block/${node}/partition" ]; then
      disk=$(readlink -f "/sys/class/block/${node}/..") || return 1
      below="${disk##*/} ${below}"
      continue
    fi
    case ${node} in
    nvme* | sd* | vd* | xvd*) ;;
    md*) add_slaves || return 1 ;;
    dm-*) is_plain_mapping && add_slaves || return 1 ;;
    loop*) add_backing || return 1 ;;
    *) return 1 ;;
    esac
  done
}

# Puts the devices that a device is built of first among those to look at; there must be one.
add_slaves() {
  built_of=''
  for slave in "/sys/class/block/${node}/slaves"/*; do
    [ ! -e "${slave}" ] || built_of="${slave##*/} ${built_of}"
  done
  below="${built_of}${below}"
  [ -n "${built_of}" ]
}

# Whether a mapping is made of targets that have all of their storage; thin, snapshot, vdo and the like have not.
is_plain_mapping() {
  read -r mapped <"/sys/class/block/${node}/dm/name" || return 1
  have dmsetup || { why="${why}: the host has no dmsetup" && return 1; }
  table=$(bounded 30 dmsetup table "${mapped}" 2>/dev/null) || return 1
  targets=$(printf '%s\n' "${table}" | awk '{ print $3 == "" ? "nothing" : $3 }') || return 1
  [ -n "${targets}" ] || return 1
  for target in ${targets}; do
    case ${target} in
    linear | striped | raid | mirror | crypt | integrity | multipath) ;;
    *)
      why="it is on ${mapped} (${node}), a mapping of the kind ${target}, whose storage may be promised and not there"
      return 1
      ;;
    esac
  done
}

# The file of a loop device: what it lies on must be as good, and is looked at next. Of a simulated volume it is not.
add_backing() {
  [ -z "${PLIMSOLL_SIMULATED_LOOPS:-}" ] || return 0
  read -r backing <"/sys/class/block/${node}/loop/backing_file" || return 1
  why="it is on ${node}, the loop device of ${backing}, which cannot be found"
  { [ -f "${backing}" ] && exec 5<"${backing}"; } || return 1
  backed=$(mount_of 5)
  exec 5<&-
  why="it is on ${node}, the loop device of ${backing}, and of that file's filesystem (${backed#* }) cannot be told \
whether all of its storage is there"
  keeps_its_room "${backed#* }" || return 1
  under=$(readlink -f "/sys/dev/block/${backed%% *}") && [ -d "${under}" ] || return 1
  below="${under##*/} ${below}"
  places="${places}
${backing}"
}

# The numbers of the device and the type of the filesystem on which an open file lies.
mount_of() {
  id=$(mount_id_of "$1")
  awk -v id="${id}" '$1 == id { for (i = 7; i <= NF && $i != "-"; i++); print $3, $(i + 1) }' "/proc/$$/mountinfo"
}

mount_id_of() { sed -n 's/^mnt_id:[[:space:]]*//p' "/proc/$$/fdinfo/$1"; }

# Chooses, of the filesystems whose storage is there, the one with the most room; the kernel writes blanks in a path as
# \040.
find_filesystem() {
  if [ -n "${simulated}" ]; then
    mounted=${simulated%/*} places=${simulated%/*}
    return 0
  fi
  most=-1 unfit='' fit=''
  mounts_of_family >"${work}/mounts" || die filesystem "it cannot be seen where ${device} is mounted"
  while read -r built_on kind id place; do
    place=$(printf '%b' "$(printf '%s' "${place}" | sed 's/\\\([0-7][0-7][0-7]\)/\\0\1/g')")
    [ -d "${place}" ] || continue
    why="it is ${kind}, which does not write in place or does not tell its own room"
    if ! keeps_its_room "${kind}" || ! is_all_there "${built_on##*/}" "${place}"; then
      unfit="${unfit}${place}: ${why}. "
      continue
    fi
    room=$(room_at "${place}")
    [ "${room%% *}" -gt "${most}" ] || continue
    most=${room%% *} fit=${places}
    filesystem=${kind} filesystem_on=${built_on} mounted=${place} mount_id=${id}
  done <"${work}/mounts"
  [ -n "${mounted}" ] || [ -z "${unfit}" ] || die storage "${unfit}"
  [ -n "${mounted}" ] || die filesystem "no filesystem of ${VOLUME_ID} (${device}) is mounted on this host"
  places=${fit}
}

# Whether so many MiB more leave a tenth and 1 GiB of every place, and inodes.
check_room() {
  while read -r place; do
    room=$(room_at "${place}")
    [ -n "${room}" ] || die room "it cannot be told what is free in ${place}"
    least=$((${room##* } / 10))
    [ "${least}" -ge 1048576 ] || least=1048576
    [ $((${room%% *} - $1 * 1024)) -ge "${least}" ] || die room "${place} has $((${room%% *} / 1024)) MiB \
free, and after $1 MiB more of a file a tenth of it and 1 GiB, $((least / 1024)) MiB, must stay free"
  done <<END
${places}
END
  inodes=$(df -P -i "${mounted}" | awk 'NR == 2 { print $2 ~ /^[1-9]/ && $4 < 16 ? "few" : "enough" }')
  [ "${inodes}" = enough ] || die room "${mounted} has hardly an inode free, or cannot be asked for them"
}

# The file loses its name as soon as it is open: however this ends, the kernel takes it back. What mktemp makes is new
# and this user's own, so no link is followed. Another filesystem may lie over the place since it was chosen.
make_file() {
  folder=$(mktemp -d "${mounted}/.plimsoll-XXXXXXXXXX") || die filesystem "no folder can be made in ${mounted}"
  exec 8<>"${folder}/measured"
  rm -f -- "${folder}/measured"
  rmdir -- "${folder}"
  folder=''
  [ -n "${simulated}" ] || [ "$(mount_id_of 8)" = "${mount_id}" ] ||
    die filesystem "${mounted} does not lead to the filesystem on ${filesystem_on}"
}

# Blocks that were never written are read without the volume, so the whole file is written first, at a rate that a
# volume of 125 MiB/s hardly notices.
LAYOUT_MIB_S=25

lay_out_file() {
  written=0
  while [ "${written}" -lt "${FILE_SIZE_MIB}" ] && [ -z "${stopped}" ]; do
    [ "$(left)" -gt 0 ] || die limit "the file of ${FILE_SIZE_MIB} MiB could not be written within ${LIMIT_SECONDS} s"
    piece=$((FILE_SIZE_MIB - written))
    check_room "${piece}"
    [ "${piece}" -le "${LAYOUT_MIB_S}" ] || piece=${LAYOUT_MIB_S}
    # shellcheck disable=SC2086 # words, not one word
    ${gently} dd if=/dev/urandom bs=1048576 count="${piece}" conv=fdatasync >&8 2>"${work}/noise" ||
      die filesystem "the file could not be written in ${mounted}: $(cat "${work}/noise")"
    written=$((written + piece))
    sleep 1
    watch
  done
}
