# This part: fio, and what watches it.

gently='' # how it is started beside other work

# Package managers are left to finish, within their bound: one that is killed leaves a broken database behind.
install_with() {
  seconds=$(patience 300)
  case $1 in
  apt-get)
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    bounded "${seconds}" apt-get -q -y update || :
    bounded "${seconds}" apt-get -q -y -o DPkg::Lock::Timeout=60 --no-install-recommends install fio
    ;;
  zypper) bounded "${seconds}" zypper --non-interactive install --no-recommends fio ;;
  *) bounded "${seconds}" "$1" -y -q install fio ;;
  esac
}

need_fio() {
  have fio && return 0
  for manager in dnf yum apt-get zypper; do
    have "${manager}" || continue
    install_with "${manager}" >"${work}/install" 2>&1 6>&- 9>&- || :
    hash -r
    have fio && return 0
    die install "fio is not installed, and ${manager} could not install it: $(tail -n 3 "${work}/install")"
  done
  die install "fio is not installed, and there is none of dnf, yum, apt-get and zypper to install it with"
}

# The engine's own process: bounded even if nothing else is left of this script.
engine_process() {
  seconds=$1
  shift
  # shellcheck disable=SC2086 # words, not one word
  if have timeout; then exec ${gently} timeout -k 5 "${seconds}" "$@"; fi
  # shellcheck disable=SC2086
  exec ${gently} "$@"
}

# Runs fio with the arguments that follow the stage it is for; ends early, with `stopped` set, when the watch says so.
run_fio() {
  stage=$1
  shift
  [ "$(left)" -gt 0 ] || die limit "no time was left of ${LIMIT_SECONDS} s to run fio"
  engine_process "$(left)" fio "$@" </dev/null >"${work}/noise" 2>&1 &
  engine=$!
  echo "${engine}" >"${work}/engine"
  while kill -0 "${engine}" 2>/dev/null; do
    sleep 1
    watch
    look_at_bench
    if [ -n "${stopped}" ] || [ "$(left)" -le 0 ]; then
      signal_engine TERM
      break
    fi
  done
  code=0
  wait "${engine}" || code=$?
  rm -f -- "${work}/engine"
  engine=''
  [ -z "${stopped}" ] || return 0
  [ "${code}" -eq 0 ] || [ "$(left)" -gt 1 ] || die limit "fio did not end within the limit of ${LIMIT_SECONDS} s"
  [ "${code}" -eq 0 ] || die "${stage}" "fio ended with ${code}: $(tail -n 3 "${work}/noise")"
}

before_done=''
queue_s=0
latency_s=0

# Once a second: stops when the volume's queue, or its mean latency, was above its limit three times in a row. I/O that
# waits while none is served has the latency of a second at least.
watch() {
  [ "${MODE}" = file ] && [ -n "${name}" ] && [ "${MOST_QUEUE}${MOST_LATENCY_US}" != 00 ] || return 0
  while read -r _ _ node reads _ _ read_ms writes _ _ write_ms waiting _; do
    if [ "${node}" = "${name}" ]; then break; fi
  done </proc/diskstats
  [ "${node}" = "${name}" ] || die find-device "the kernel counts nothing of ${name} any more, so nothing would stop the run"
  done_now=$((reads + writes)) spent_ms=$((read_ms + write_ms))
  if [ -n "${before_done}" ]; then
    latency_us=0
    if [ "${done_now}" -gt "${before_done}" ]; then
      latency_us=$(((spent_ms - before_ms) * 1000 / (done_now - before_done)))
    elif [ "${waiting}" -gt 0 ]; then
      latency_us=1000000
    fi
    if [ "${MOST_LATENCY_US}" -gt 0 ] && [ "${latency_us}" -gt "${MOST_LATENCY_US}" ]; then
      latency_s=$((latency_s + 1))
    else
      latency_s=0
    fi
    if [ "${MOST_QUEUE}" -gt 0 ] && [ "${waiting}" -gt "${MOST_QUEUE}" ]; then queue_s=$((queue_s + 1)); else queue_s=0; fi
  fi
  before_done=${done_now} before_ms=${spent_ms}
  [ "${latency_s}" -lt 3 ] || stopped=latency
  [ "${queue_s}" -lt 3 ] || stopped=queue
}
