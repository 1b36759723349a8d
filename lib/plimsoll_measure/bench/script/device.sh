# This part: which device the volume is, and whether it may be written to.

device='' # its path, such as /dev/nvme1n1
name=''   # the kernel's name, such as nvme1n1
holder='' # the process that has it open for itself

# Every whole block device that says it is the volume: by the serial of NVMe, or by a link that udev named after it.
# Where one cannot be asked, the reason is printed instead, and this fails: it may be the volume as well.
devices_of_serial() {
  for file in /sys/block/*/device/serial; do
    found=${file#/sys/block/}
    node="/dev/${found%%/*}"
    { [ -e "${file}" ] && [ -b "${node}" ]; } || continue
    found=$(tr -d ' \n' <"${file}") || {
      echo "${file} cannot be read"
      return 1
    }
    [ "${found}" != "$1" ] || echo "${node}"
  done
  for link in /dev/disk/by-id/*"$1"*; do
    case ${link##*"$1"} in
    [0-9a-f]*) continue ;; # the id of another volume begins with this one
    *) whole_device "${link}" || return 1 ;;
    esac
  done
}

# The whole block device that a link leads to; nothing where it leads to none.
whole_device() {
  [ -e "$1" ] || return 0
  found=$(readlink -f "$1") || {
    echo "it cannot be seen where $1 leads to"
    return 1
  }
  if [ -b "${found}" ] && [ -d "/sys/block/${found##*/}" ]; then echo "${found}"; fi
}

# By the link that udev names after an attachment, where ids are numbers and no device tells them.
devices_of_volume() {
  case ${VOLUME_ID} in
  vol-*) devices_of_serial "vol${VOLUME_ID#vol-}" ;;
  *) whole_device "/dev/disk/by-id/google-${DEVICE_NAME}" ;;
  esac
}

# Sets `device`: empty where none is the volume so far; ends where several are.
look_for_device() {
  devices_of_volume >"${work}/devices" || die find-device "$(tail -n 1 "${work}/devices")"
  device=''
  while read -r found; do
    [ "${found}" = "${device:-${found}}" ] || die find-device "several devices say that they are ${VOLUME_ID}"
    device=${found}
  done <"${work}/devices"
}

# What a device would have to show, for the sentence that says that none does.
sought() {
  case ${VOLUME_ID} in
  vol-*) echo "has the serial vol${VOLUME_ID#vol-}, and no link in /dev/disk/by-id holds it" ;;
  *) echo "is what /dev/disk/by-id/google-${DEVICE_NAME} points to" ;;
  esac
}

find_device() {
  if [ -n "${simulated}" ]; then
    device=${simulated}
    { [ -f "${device}" ] && [ ! -L "${device}" ]; } || die find-device "the simulated device ${device} is no plain file"
    return 0
  fi
  [ "$(id -u)" -eq 0 ] || die rights "measuring a device needs root"
  waits=$(patience 60)
  until_s=$(($(now) + waits))
  look_for_device
  while [ -z "${device}" ]; do
    [ "$(now)" -lt "${until_s}" ] || die find-device "no block device of this host $(sought), after ${waits} s"
    sleep 1
    look_for_device
  done
  name=${device##*/}
}

# While a device is open its name is not given to another; so it is looked up once more after it was opened.
pin_device() {
  exec 7<"${device}"
  check_same
}

check_same() {
  [ -z "${simulated}" ] || return 0
  was=${device}
  look_for_device
  [ "${device}" = "${was}" ] || die find-device "${was} stopped being ${VOLUME_ID} while it was looked at"
}

# Keeps the device open exclusively (O_EXCL) for as long as this script or fio runs: nobody can mount it, swap to it or
# build on it then, in whatever namespace of mounts, and nobody does. A shell cannot open a file so.
hold_device() {
  [ -z "${simulated}" ] || return 0
  mkfifo "${work}/held" "${work}/hold" || die tools "no pipe can be made in ${work}"
  open_exclusively <"${work}/hold" >"${work}/held" 2>&1 &
  holder=$!
  exec 6>"${work}/hold"
  answer=''
  read -r answer <"${work}/held" || [ -n "${answer}" ] || answer='nothing was said'
  [ "${answer}" = held ] || die in-use "${device} cannot be had for itself: ${answer}"
}

# Says `held`, and waits until nobody has the other end of its input open any more.
open_exclusively() {
  for python in python3 /usr/libexec/platform-python ''; do
    if "${python:-:}" -c '' 2>/dev/null; then break; fi
  done
  if [ -n "${python}" ]; then
    exec "${python}" -c 'import os, sys
try:
    os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)
except OSError as error:
    sys.exit(str(error))
print("held")
sys.stdout.flush()
sys.stdin.read()' "${device}"
  elif have perl; then
    # shellcheck disable=SC2016 # perl expands it
    exec perl -MFcntl -e '$| = 1; sysopen(D, $ARGV[0], O_RDONLY | O_EXCL) or die "$!\n"; print "held\n"; 1 while <STDIN>' \
      "${device}"
  fi
  echo "the host has neither python3 nor perl to open it with"
}

device_bytes() {
  if [ -n "${simulated}" ]; then wc -c <"${device}"; else echo $(($(cat "/sys/class/block/${name}/size") * 512)); fi
}

in_use() { die in-use "${device} is in use: $1"; }

# What uses the device. It is looked at only so that it can be named: a device that is held is in no use.
check_unused() {
  [ -z "${simulated}" ] || return 0
  node="/sys/class/block/${name}"
  [ -d "${node}/holders" ] || die in-use "it cannot be seen in ${node} what uses ${device}"
  for part in "${node}/${name}"*/partition; do
    [ ! -e "${part}" ] || in_use "it has partitions"
  done
  for user in "${node}/holders"/*; do
    [ ! -e "${user}" ] || in_use "${user##*/} is built on it"
  done
  numbers=$(cat "${node}/dev") || die in-use "the number of ${device} cannot be read"
  ! holds_line /proc/self/mountinfo " ${numbers} " || in_use "it is mounted"
  # Other processes may see mounts of their own; some end while they are looked at.
  ! grep -a -q -s -F " ${numbers} " /proc/[0-9]*/mountinfo || in_use "it is mounted"
  [ ! -e /proc/swaps ] || ! holds_line /proc/swaps "^${device}[[:space:]]" || in_use "it is swap space"
}

not_empty() { die not-empty "${device} is not empty: $1"; }

check_signatures() {
  [ -z "${simulated}" ] || return 0
  { have wipefs && have blkid; } || die tools "the host has no wipefs or no blkid (util-linux)"
  code=0
  found=$(bounded 60 wipefs "${device}" 2>&1) || code=$?
  [ "${code}:${found}" = 0: ] || not_empty "wipefs ended with ${code}: ${found}"
  code=0
  found=$(bounded 60 blkid -p "${device}" 2>&1) || code=$?
  [ "${code}:${found}" = 2: ] || not_empty "blkid ended with ${code}: ${found}" # 2: nothing was found
}

# Whether a MiB of the device, counted from 0, can be read and holds nothing but zeros.
is_blank() {
  dd if="${device}" of="${work}/piece" bs=1048576 skip="$1" count=1 2>/dev/null || return 1
  tr -d '\000' <"${work}/piece" >"${work}/data" || return 1
  [ "$(wc -c <"${work}/piece")" -eq 1048576 ] && [ "$(wc -c <"${work}/data")" -eq 0 ]
}

# A volume made to be measured holds zeros. Its first and last MiB, where every signature lies and what knows no
# signature begins, are looked at, and are never written to: so a volume can be measured again.
check_empty() {
  last=$(($(device_bytes) / 1048576 - 1))
  [ "${last}" -ge 7 ] || die not-empty "${device} is smaller than 8 MiB"
  check_signatures
  for piece in 0 "${last}"; do
    is_blank "${piece}" || not_empty "MiB ${piece} holds data, or cannot be read"
  done
}

check_held() {
  [ -z "${holder}" ] || kill -0 "${holder}" 2>/dev/null || die in-use "${device} is not held any more"
}

# Everything that must be true of the device before fio touches it: asked at first, and once more when fio is ready.
check_device() {
  check_same
  check_unused
  if [ -z "${holder}" ]; then hold_device; fi
  check_held
  if [ "${INITIALISE}" = no ]; then check_empty; fi
}
