# This part: which device the volume is, and whether it may be written to.

device='' # its path, such as /dev/nvme1n1
name=''   # the kernel's name, such as nvme1n1

# Every whole block device that says it is the volume: by the serial of NVMe, or by a link that udev named after it.
devices_of_serial() {
  {
    for file in /sys/block/*/device/serial; do
      [ -r "${file}" ] || continue
      found=''
      read -r found <"${file}" || :
      [ "${found}" = "$1" ] || continue
      found=${file#/sys/block/}
      echo "/dev/${found%%/*}"
    done
    for link in /dev/disk/by-id/*"$1"*; do
      case ${link##*"$1"} in
      [0-9a-f]*) continue ;; # the id of another volume begins with this one
      *) ;;
      esac
      found=$(readlink -f "${link}") || continue
      if [ -b "${found}" ] && [ -d "/sys/block/${found##*/}" ]; then echo "${found}"; fi
    done
  } | sort -u
}

# The whole block device that a link of udev's names after an attachment, where ids are numbers and no device tells them.
device_of_name() {
  found=$(readlink -f "/dev/disk/by-id/google-$1") || return 0
  if [ -b "${found}" ] && [ -d "/sys/block/${found##*/}" ]; then echo "${found}"; fi
}

devices_of_volume() {
  case ${VOLUME_ID} in
  vol-*) devices_of_serial "vol${VOLUME_ID#vol-}" ;;
  *) device_of_name "${DEVICE_NAME}" ;;
  esac
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
  device=$(devices_of_volume)
  while [ -z "${device}" ]; do
    [ "$(now)" -lt "${until_s}" ] || die find-device "no block device of this host $(sought), after ${waits} s"
    sleep 1
    device=$(devices_of_volume)
  done
  [ "$(printf '%s\n' "${device}" | wc -l)" -eq 1 ] || die find-device "several devices say that they are ${VOLUME_ID}"
  name=${device##*/}
}

# While a device is open its name is not given to another; so it is looked up once more after it was opened.
pin_device() {
  exec 7<"${device}"
  [ -n "${simulated}" ] || [ "$(devices_of_volume)" = "${device}" ] ||
    die find-device "${device} stopped being ${VOLUME_ID} while it was looked at"
}

device_bytes() {
  if [ -n "${simulated}" ]; then wc -c <"${device}"; else echo $(($(cat "/sys/class/block/${name}/size") * 512)); fi
}

# Says what uses the device, nothing when nobody does.
uses_of_device() {
  for part in "/sys/class/block/${name}/${name}"*/partition; do
    [ ! -e "${part}" ] || echo "it has partitions"
  done
  for holder in "/sys/class/block/${name}/holders"/*; do
    [ ! -e "${holder}" ] || echo "${holder##*/} is built on it"
  done
  numbers=$(cat "/sys/class/block/${name}/dev")
  # Of every process, since each may see mounts of its own.
  if grep -q -s -F " ${numbers} " /proc/[0-9]*/mountinfo; then echo "it is mounted"; fi
  if grep -q "^${device}[[:space:]]" /proc/swaps; then echo "it is swap space"; fi
}

# Says which signature is on the device, nothing when there is none.
signature_of_device() {
  if have wipefs; then
    found=$(bounded 60 wipefs "${device}" 2>&1) || found="wipefs cannot read it: ${found}"
    [ -z "${found}" ] || echo "${found}"
  fi
  if have blkid; then
    code=0
    found=$(bounded 60 blkid -p "${device}" 2>&1) || code=$?
    [ "${code}" -eq 2 ] || echo "${found:-blkid ended with ${code}}" # 2: nothing was found
  fi
}

# Whether a MiB of the device, counted from 0, can be read and holds nothing but zeros.
is_blank() {
  dd if="${device}" of="${work}/piece" bs=1048576 skip="$1" count=1 2>/dev/null || return 1
  [ "$(wc -c <"${work}/piece")" -eq 1048576 ] && [ "$(tr -d '\000' <"${work}/piece" | wc -c)" -eq 0 ]
}

check_unused() {
  [ -z "${simulated}" ] || return 0
  found=$(uses_of_device)
  [ -z "${found}" ] || die in-use "${device} is in use: ${found}"
}

# A volume made to be measured holds zeros. Its first and last MiB, where every signature lies and what knows no
# signature begins, are looked at, and are never written to: so a volume can be measured again.
check_empty() {
  last=$(($(device_bytes) / 1048576 - 1))
  [ "${last}" -ge 7 ] || die not-empty "${device} is smaller than 8 MiB"
  [ -n "${simulated}" ] || found=$(signature_of_device)
  [ -n "${simulated}" ] || [ -z "${found}" ] || die not-empty "${device} is not empty: ${found}"
  for piece in 0 "${last}"; do
    is_blank "${piece}" || die not-empty "${device} is not empty: MiB ${piece} holds data, or cannot be read"
  done
}
