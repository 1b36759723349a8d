# This part: time, one run at a time, and what ends a run whose shell was killed.

started=$(now)
deadline=${started}
simulated=${PLIMSOLL_SIMULATED_DEVICE:-}

# Ends a tenth of the limit, and at most ten seconds, before the agent would: what it stopped for is still heard then.
set_deadline() {
  reserve=$((LIMIT_SECONDS / 10))
  [ "${reserve}" -le 10 ] || reserve=10
  deadline=$((started + LIMIT_SECONDS - reserve))
}

left() { echo $((deadline - $(now))); }

# The lesser of a number of seconds and half of what is left.
patience() {
  half=$(($(left) / 2))
  if [ "${half}" -lt "$1" ]; then echo "${half}"; else echo "$1"; fi
}

# Runs a command for at most so many seconds.
bounded() {
  seconds=$1
  shift
  if have timeout; then timeout -k 5 "${seconds}" "$@" </dev/null; else "$@" </dev/null; fi
}

# One measurement at a time on a host, because they share its ceiling. PLIMSOLL_LOCK is for hosts that are simulated on
# one machine. Whatever this starts keeps the lock for as long as it runs.
take_lock() {
  have flock || [ -n "${simulated}" ] || die tools "the host has no flock (util-linux)"
  have flock || return 0
  exec 9>>"${PLIMSOLL_LOCK:-${simulated:-/run/plimsoll.lock}}"
  flock -w "$(patience 60)" 9 || die busy "another measurement is running on this host"
}

make_work() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll-XXXXXXXXXX") || die tools "no temporary folder can be made"
}

# A cancelled command's shell may be killed outright, and a trap does not run then: a process in a session of its own
# notices that its parent is gone, and ends the engine.
start_guard() {
  have setsid && [ -r /proc/self/status ] || return 0
  # shellcheck disable=SC2016 # its own shell expands it
  setsid sh -c '
    while [ "$(sed -n "s/^PPid:[[:space:]]*//p" "/proc/$$/status")" = "$1" ]; do sleep 1 9>&-; done
    if read -r group <"$2/engine"; then
      kill -s TERM -- "-${group}"
      sleep 3
      kill -s KILL -- "-${group}"
    fi
    rm -rf -- "$2"
  ' guard "$$" "${work}" </dev/null >/dev/null 2>&1 &
  guard=$!
}
