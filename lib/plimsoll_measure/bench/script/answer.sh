# What Plimsoll runs on a host: POSIX sh. The document's parameters are in the variables that were set above.
# This part: how it answers (one line of JSON, whatever happens) and how it ends.

set -eu
umask 077
LC_ALL=C
PATH="${PATH:-/usr/bin:/bin}:/usr/sbin:/sbin"
export LC_ALL PATH

said=''    # whether the answer was given
work=''    # the private folder of the run
folder=''  # a folder on the measured filesystem, for the moment in which the file has a name
engine=''  # the process (and its group) that does I/O
guard=''   # the process that ends the engine when this one is killed
stopped='' # what stopped the measurement: queue or latency

have() { command -v "$1" >/dev/null 2>&1; }

# Seconds of a clock that nobody sets.
now() {
  if [ -r /proc/uptime ]; then
    read -r up _ </proc/uptime
    echo "${up%%.*}"
  else
    date +%s
  fi
}

# The inside of a JSON string: one line of printable ASCII, at most 400 characters.
json_text() {
  tr -c '[:print:]' ' ' | cut -c 1-400 | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g'
}

say() {
  said=yes
  printf '%s\n' "$1" || :
}

# Ends with the stage that failed and a text; the third argument is the exit code.
die() {
  say "{\"plimsoll\":1,\"error\":{\"stage\":\"$1\",\"text\":\"$(printf '%s' "$2" | json_text)\"}}"
  exit "${3:-1}"
}

signal_engine() {
  kill -s "$1" -- "-${engine}" 2>/dev/null || kill -s "$1" "${engine}" 2>/dev/null || :
}

stop_engine() {
  [ -n "${engine}" ] || return 0
  signal_engine TERM
  for _ in 1 2 3; do
    kill -0 "${engine}" 2>/dev/null || break
    sleep 1
  done
  signal_engine KILL
  wait "${engine}" 2>/dev/null || :
  engine=''
}

finish() {
  code=$?
  trap - EXIT
  trap '' INT TERM HUP
  stop_engine
  [ -z "${holder:-}" ] || kill "${holder}" 2>/dev/null || :
  [ -z "${guard}" ] || kill "${guard}" 2>/dev/null || :
  [ -z "${folder}" ] || rm -rf -- "${folder}"
  [ -z "${work}" ] || rm -rf -- "${work}"
  if [ -z "${said}" ]; then
    [ "${code}" -ne 0 ] || code=1
    say "{\"plimsoll\":1,\"error\":{\"stage\":\"script\",\"text\":\"the script ended with ${code}\"}}"
  fi
  exit "${code}"
}

trap finish EXIT
trap 'die stopped "the script was stopped by SIGTERM" 143' TERM
trap 'die stopped "the script was stopped by SIGINT" 130' INT
trap 'die stopped "the script was stopped by SIGHUP" 129' HUP
trap '' PIPE
