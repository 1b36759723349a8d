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

# Lines of device, type and place of every filesystem on the volume; btrfs is known by its source alone.
mounts_of_family() {
  for member in $(family "${name}" | sort -u); do
    mapped=''
    [ ! -r "/sys/class/block/${member}/dm/name" ] || read -r mapped <"/sys/class/block/${member}/dm/name"
    awk -v numbers="$(cat "/sys/class/block/${member}/dev")" -v node="/dev/${member}" -v mapped="/dev/mapper/${mapped}" '{
      for (i = 7; i <= NF && $i != "-"; i++);
      if ($3 == numbers || $(i + 2) == node || $(i + 2) == mapped) print node, $(i + 1), $5
    }' /proc/self/mountinfo
  done
}

# Free KiB of a filesystem and its size.
room_at() { df -P -k "$1" | awk 'NR == 2 { print $4, $2 }'; }

# Chooses the filesystem with the most room; the kernel writes blanks in a path as \040.
find_filesystem() {
  if [ -n "${simulated}" ]; then
    mounted=${simulated%/*}
    return 0
  fi
  most=-1
  while read -r node kind place; do
    case ${kind} in
    '' | swap | vfat | squashfs | iso9660 | erofs | overlay) continue ;;
    *) ;;
    esac
    place=$(printf '%b' "$(printf '%s' "${place}" | sed 's/\\\([0-7][0-7][0-7]\)/\\0\1/g')")
    [ -d "${place}" ] || continue
    room=$(room_at "${place}")
    [ "${room%% *}" -gt "${most}" ] || continue
    most=${room%% *}
    filesystem=${kind} filesystem_on=${node} mounted=${place}
  done <<EOF
$(mounts_of_family)
EOF
  [ -n "${mounted}" ] || die filesystem "no filesystem of ${VOLUME_ID} (${device}) is mounted on this host"
}

check_room() {
  room=$(room_at "${mounted}")
  least=$((${room##* } / 10))
  [ "${least}" -ge 1048576 ] || least=1048576
  [ $((${room%% *} - FILE_SIZE_MIB * 1024)) -ge "${least}" ] || die room "${mounted} has $((${room%% *} / 1024)) MiB \
free, and after a file of ${FILE_SIZE_MIB} MiB a tenth of it and 1 GiB, $((least / 1024)) MiB, must stay free"
  inodes=$(df -P -i "${mounted}" | awk 'NR == 2 { print $2 ~ /^[1-9]/ && $4 < 16 ? "few" : "" }')
  [ -z "${inodes}" ] || die room "${mounted} has hardly an inode free"
}

# The file loses its name as soon as it is open: however this ends, the kernel takes it back. What mktemp makes is new
# and this user's own, so no link is followed.
make_file() {
  folder=$(mktemp -d "${mounted}/.plimsoll-XXXXXXXXXX") || die filesystem "no folder can be made in ${mounted}"
  exec 8<>"${folder}/measured"
  rm -f -- "${folder}/measured"
  rmdir -- "${folder}"
  folder=''
}

# Blocks that were never written are read without the volume, so the whole file is written first, at a rate that a
# volume of 125 MiB/s hardly notices.
LAYOUT_MIB_S=25

lay_out_file() {
  written=0
  while [ "${written}" -lt "${FILE_SIZE_MIB}" ] && [ -z "${stopped}" ]; do
    [ "$(left)" -gt 0 ] || die limit "the file of ${FILE_SIZE_MIB} MiB could not be written within ${LIMIT_SECONDS} s"
    piece=$((FILE_SIZE_MIB - written))
    [ "${piece}" -le "${LAYOUT_MIB_S}" ] || piece=${LAYOUT_MIB_S}
    # shellcheck disable=SC2086 # words, not one word
    ${gently} dd if=/dev/urandom bs=1048576 count="${piece}" conv=fdatasync >&8 2>"${work}/noise" ||
      die filesystem "the file could not be written in ${mounted}: $(cat "${work}/noise")"
    written=$((written + piece))
    sleep 1
    watch
  done
}
