# This part: how the host's volumes are put together. It only reads; tools that are not there are left out.

# Members of a JSON object, from lines of NAME=value.
members() {
  while IFS='=' read -r key value; do
    case ${key} in
    '' | *[!A-Za-z0-9_]*) continue ;;
    *) printf '"%s":%s\n' "${key}" "$(quoted "${value}")" ;;
    esac
  done | paste -s -d , -
}

# Links that udev made, by the device they point to: they tell the volume where a device has no serial.
links() {
  for link in /dev/disk/by-id/*; do
    [ -e "${link}" ] || continue
    target=$(readlink -f "${link}") || continue
    printf '%s:%s\n' "$(quoted "${link##*/}")" "$(quoted "${target}")"
  done | paste -s -d , -
}

# Of each md device: what mdadm exports, and the chunk, which only its text tells.
arrays() {
  for array in $(printf '%s' "$1" | tr ',' '\n' | sed -n 's/.*"kname":[[:space:]]*"\(md[A-Za-z0-9_]*\)".*/\1/p' | sort -u); do
    told=$(bounded 30 mdadm --detail --export "/dev/${array}" 2>/dev/null) || continue
    chunk=$(bounded 30 mdadm --detail "/dev/${array}" 2>/dev/null | sed -n 's/^ *Chunk Size : *\([0-9]*\)K.*/CHUNK_KIB=\1/p') || chunk=''
    printf '"%s":{%s}\n' "${array}" "$(printf '%s\n%s\n' "${told}" "${chunk}" | members)"
  done | paste -s -d , -
}

# A tool's JSON in one line behind its key; nothing when it is not installed, fails, or is too old for JSON.
told_by() {
  have "$2" || return 0
  told=$(key=$1 && shift && bounded 30 "$@" 2>/dev/null) || return 0
  case ${told} in
  *'{'*) printf ',"%s":%s' "$1" "$(printf '%s\n' "${told}" | sed -e 's/^[[:space:]]*//' | tr -d '\n')" ;;
  *) ;;
  esac
}

inspect() {
  have lsblk || die inspect "the host has no lsblk (util-linux)"
  tree=$(bounded 60 lsblk -J -b -o NAME,KNAME,TYPE,SIZE,SERIAL,FSTYPE,MOUNTPOINT,PKNAME 2>&1) ||
    die inspect "lsblk tells nothing: ${tree}"
  tree=$(printf '%s\n' "${tree}" | sed -e 's/^[[:space:]]*//' | tr -d '\n')
  linked=$(links) || die inspect "the links in /dev/disk/by-id cannot be read"
  found="{\"plimsoll\":1,\"mode\":\"inspect\",\"lsblk\":${tree},\"links\":{${linked}}"
  if have mdadm; then
    built=$(arrays "${tree}") || die inspect "what mdadm tells cannot be read"
    found="${found},\"mdadm\":{${built}}"
  fi
  mapped=$(told_by lvs lvs --reportformat json --units k --nosuffix -o lv_name,vg_name,segtype,stripes,stripe_size)
  say "${found}${mapped}}"
}
