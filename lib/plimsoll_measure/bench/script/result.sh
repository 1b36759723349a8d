# This part: fio's result as the answer. Only sed, awk and tr are taken to be there.

MOST_CHARACTERS=22000 # the API tells the first 24,000 of what is printed

# fio's JSON without what is printed before and after it.
fio_json() { sed -n '/^{/,/^}/p' "${work}/result"; }

# The reads and writes of the job that did fewest, by fio's JSON in a file; nothing where it names none.
least_operations() {
  awk -F '[:,]' '
    /^ *"jobname" :/ { job++; done[job] = 0 }
    /^ *"(read|write|mixed)" : [{]$/ { counts = 1 }
    /^ *"(trim|sync)" : [{]$/ { counts = 0 }
    counts && /^ *"total_ios" :/ { done[job] += $2 }
    END { for (one in done) if (least == "" || done[one] < least) least = done[one]; if (job) printf "%.0f", least }
  ' "$1"
}

# A run that did no I/O showed nothing, whatever code it ended with. One that was stopped may have come to nothing.
check_io() {
  [ -z "${stopped}" ] || return 0
  operations=$(least_operations "$2") || die "$1" "what fio did could not be counted"
  case ${operations} in
  '') die "$1" "fio printed no result: $(tail -n 3 "${work}/noise")" ;;
  0) die "$1" "fio did no I/O in a section, and ended without an error: $(tail -n 3 "${work}/noise")" ;;
  *[!0-9]*) die "$1" "what fio did could not be counted" ;;
  *) ;;
  esac
}

# In one line: fio writes a key or a bracket a line, so blanks inside strings stay. Its nan and inf are no JSON.
one_line() {
  sed -e 's/^[[:space:]]*//' -e 's/^\("[^"]*"\) : /\1:/' -e 's/^\("[^"]*":\)-\{0,1\}nan\(,\{0,1\}\)$/\1null\2/' \
    -e 's/^\("[^"]*":\)-\{0,1\}inf\(,\{0,1\}\)$/\1null\2/' | tr -d '\n'
}

# Leaves out the blocks named in $1 (a|b|c), and the comma before one that was the last of its parent.
without_blocks() {
  awk -v names="$1" '
    function depth(line) { match(line, /^ */); return RLENGTH }
    skipping {
      if (depth($0) == at && $0 ~ /^ *[}]/) {
        skipping = 0
        if ($0 !~ /,$/) sub(/,$/, "", held)
      }
      next
    }
    $0 ~ "^ *\"(" names ")\" : [{]$" { skipping = 1; at = depth($0); next }
    { if (NR > 1) print held; held = $0 }
    END { print held }'
}

# Prints the answer; what had to be left out of its line follows it whole, for the copy that is kept in S3.
answer() {
  whole='' fio=null shortened=false bench=$(bench_json)
  if [ -s "${work}/result" ]; then whole=$(fio_json); fi
  if [ -n "${whole}" ]; then fio=$(printf '%s\n' "${whole}" | one_line); fi
  [ "${fio}" != null ] || [ -n "${stopped}" ] || die fio "fio printed no result: $(tail -n 3 "${work}/noise")"
  bulky='latency_ns|latency_us|latency_ms|iodepth_submit|iodepth_complete|trim|sync|slat_ns'
  for blocks in "${bulky}" "${bulky}|iodepth_level|lat_ns"; do
    [ "${#fio}" -gt "${MOST_CHARACTERS}" ] || break
    shortened=true
    fio=$(printf '%s\n' "${whole}" | without_blocks "${blocks}" | one_line)
  done
  say "{\"plimsoll\":1,\"mode\":\"${MODE}\",\"volume_id\":\"${VOLUME_ID}\",\"device\":$(quoted "${device}"),\
\"filesystem\":$(quoted "${filesystem}"),\"filesystem_on\":$(quoted "${filesystem_on}"),\
\"simulated\":$([ -n "${simulated}" ] && echo true || echo false),\"stopped\":$(quoted "${stopped}"),\
\"shortened\":${shortened},\"bench\":${bench},\"fio\":${fio}}"
  if [ "${shortened}" = true ]; then printf '%s\n' "${whole}"; fi
}

# A JSON string, or null where there is none.
quoted() {
  if [ -n "$1" ]; then printf '"%s"' "$(printf '%s' "$1" | json_text)"; else printf null; fi
}
