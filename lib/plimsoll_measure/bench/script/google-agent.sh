# Plimsoll's agent on a bench VM of Google Cloud, as its startup script: POSIX sh, curl, and what every Linux has.
#
# It waits on its own metadata for a task, runs the measuring script with it, and writes what came of it to its guest
# attributes. A task is values by name and never text for a shell: each must match its pattern (value_of), and reaches
# the measuring script as a variable. VERSION, value_of and measuring_script stand above this part.

set -eu
umask 077
LC_ALL=C
PATH="${PATH:-/usr/bin:/bin}:/usr/sbin:/sbin"
export LC_ALL PATH

vm="http://${GCE_METADATA_HOST:-metadata.google.internal}/computeMetadata/v1/instance"
home=${PLIMSOLL_HOME:-/var/lib/plimsoll}
tasks=${PLIMSOLL_TASKS:-} # ends after so many, where it is one of many on one machine; else never
pause=${PLIMSOLL_PAUSE:-5}
piece=16000 # bytes of an output in one guest attribute, and how many of them
most_pieces=12
keep_s=86400 # for how long the answer of an earlier task can be read

have() { command -v "$1" >/dev/null 2>&1; }

metadata() {
  path=$1
  shift
  curl -s -f -H 'Metadata-Flavor: Google' "$@" "${vm}/${path}"
}

# Writes a file's content to a guest attribute. The metadata server may be away for a second (maintenance), and it
# takes a few writes a second only.
publish() {
  for _ in 1 2 3 4 5 6; do
    metadata "guest-attributes/plimsoll/$1" -o /dev/null -m 20 -X PUT -H 'Content-Type: text/plain' --data-binary "@$2" &&
      return 0
    sleep 2
  done
  return 1
}

say() {
  printf '%s' "$2" >"${home}/said-$1"
  publish "$1" "${home}/said-$1" || :
  rm -f -- "${home}/said-$1"
}

# That it is here and which version it is; hosts whose word is old are not asked to measure.
say_ready() { say ready "${VERSION} $(date +%s)"; }

# What a task's file has under a name; nothing where it has none.
given() { sed -n "s/^$2=//p" "$1" | head -n 1; }

# Runs a command with the values of a task's file as variables, in the place of this shell; 64 where one is refused.
with_values() {
  values=$1
  shift
  for name in $(value_of names); do
    value=$(given "${values}" "${name}")
    variable=$(value_of "${name}" "${value}") || {
      echo "the task's value of ${name} is refused" >&2
      exit 64
    }
    export "${variable}=${value}"
  done
  exec "$@"
}

# Whether the task $1 is to stop. While the metadata server does not answer nobody knows: then it is at the third look.
# 404 is its answer where nothing was ever cancelled.
is_cancelled() {
  for _ in 1 2 3; do
    if answer=$(metadata attributes/plimsoll-cancel -m 10 -w '\n%{http_code}') || [ "${answer##*
}" = 404 ]; then
      [ "${answer%%
*}" = "$1" ]
      return
    fi
    sleep 1
  done
  return 0
}

# Runs the measuring script of the task in the folder $2, and says in `how` whether it ended by itself. The script
# bounds itself; one that does not is killed half a minute after its limit.
measure() {
  how=ended code=0 seconds=0
  limit_s=$(given "$2/task" LimitSeconds | grep -a -x -E '[0-9]{1,6}') || limit_s=3600
  (with_values "$2/task" sh "$2/measure.sh") </dev/null >"$2/out" 2>"$2/errors" 9>&- &
  script=$!
  while kill -0 "${script}" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    if [ "${how}" = ended ] && [ $((seconds % pause)) -eq 0 ] && is_cancelled "$1"; then
      how=cancelled
      kill -s TERM "${script}" 2>/dev/null || :
    fi
    if [ "${seconds}" -gt $((limit_s + 30)) ]; then
      how=late
      kill -s KILL "${script}" 2>/dev/null || :
    fi
  done
  wait "${script}" || code=$?
}

# One task, in a process of its own, from its first word to its answer. One that was cancelled by now is not begun.
carry_out() {
  own="${home}/$1"
  say "$1-state" running
  measuring_script >"${own}/measure.sh"
  : >"${own}/out"
  : >"${own}/errors"
  if is_cancelled "$1"; then how=cancelled code=143; else measure "$1" "${own}"; fi
  answer_with "$1" "${own}" "${how}" "${code}"
  rm -rf -- "${own}"
}

# The output in pieces, then the end, which says how many there are: who finds the end finds all of it.
answer_with() {
  tr -c -d '[:print:]\n' <"$2/out" | head -c $((piece * most_pieces)) >"$2/output"
  count=0
  while [ $((count * piece)) -lt "$(wc -c <"$2/output")" ]; do
    dd if="$2/output" of="$2/piece" bs="${piece}" skip="${count}" count=1 2>/dev/null
    publish "$1-${count}" "$2/piece" || return 0
    count=$((count + 1))
  done
  complaint=$(tr -c '[:print:]\n' ' ' <"$2/errors" | grep -v '^ *$' | tail -n 1 | cut -c 1-400) || complaint=''
  printf 'how=%s\nexit=%s\npieces=%s\nerror=%s\n' "$3" "$4" "${count}" "${complaint}" >"$2/end"
  publish "$1-end" "$2/end" || :
  echo "$(date +%s) $1 ${count}" >>"${home}/answered"
}

# Takes the answers of days ago away, so that what can be kept there does not run out.
forget_old() {
  [ -f "${home}/answered" ] || return 0
  mv -f -- "${home}/answered" "${home}/answered-before"
  while read -r when name count; do
    if [ $(($(date +%s) - when)) -lt "${keep_s}" ]; then
      echo "${when} ${name} ${count}" >>"${home}/answered"
      continue
    fi
    while [ "${count}" -gt 0 ]; do
      count=$((count - 1))
      metadata "guest-attributes/plimsoll/${name}-${count}" -o /dev/null -m 20 -X DELETE || :
    done
    for part in state end; do
      metadata "guest-attributes/plimsoll/${name}-${part}" -o /dev/null -m 20 -X DELETE || :
    done
  done <"${home}/answered-before"
  rm -f -- "${home}/answered-before"
}

# Begins the task that the metadata holds, unless it was begun before, also before a restart, or came too late.
take_task() {
  id=$(given "${home}/task" id | grep -a -x -E '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?') || return 0
  until_s=$(given "${home}/task" until | grep -a -x -E '[0-9]{1,12}') || return 0
  code=0
  grep -a -q -x -F "${id}" "${home}/taken" || code=$?
  [ "${code}" -eq 1 ] || return 0 # 0: it was begun; 2: nobody knows
  tail -n 50 "${home}/taken" >"${home}/taken-now"
  echo "${id}" >>"${home}/taken-now"
  mv -f -- "${home}/taken-now" "${home}/taken"
  [ "$(date +%s)" -le "${until_s}" ] || return 0
  forget_old
  mkdir -p -- "${home}/${id}"
  cp -f -- "${home}/task" "${home}/${id}/task"
  carry_out "${id}" &
  begun=$((begun + 1))
}

watch() {
  etag=0 begun=0
  while [ -z "${tasks}" ] || [ "${begun}" -lt "${tasks}" ]; do
    say_ready
    if metadata "attributes/plimsoll-task?wait_for_change=true&timeout_sec=60&last_etag=${etag}" -m 90 \
      -D "${home}/headers" -o "${home}/task"; then
      etag=$(tr -d '\r' <"${home}/headers" | sed -n 's/^[Ee][Tt][Aa][Gg]: *//p' | tail -n 1)
      take_task
      [ -n "${etag}" ] || sleep "${pause}"
    else
      etag=0 # no such key yet, or the metadata server is away
      sleep "${pause}"
    fi
  done
  wait
}

have curl || {
  echo "Plimsoll's agent needs curl" >&2
  exit 1
}
mkdir -p -- "${home}"
exec 9>>"${home}/lock"
have flock || [ -n "${PLIMSOLL_SIMULATED_DEVICE:-}" ] || {
  echo "Plimsoll's agent needs flock (util-linux)" >&2
  exit 1
}
! have flock || flock -n 9 || {
  echo "Plimsoll's agent is running already" >&2
  exit 0
}
: >>"${home}/taken"
watch
