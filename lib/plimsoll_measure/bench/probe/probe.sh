# What Plimsoll reads on a host: POSIX sh that hands over to Python. The document's parameters are in the variables above.

set -eu
umask 077
PATH="${PATH:-/usr/bin:/bin}:/usr/sbin:/sbin"
export PATH

# Of Red Hat's own interpreter, and of the usual one, the first that is new enough reads, gently.
for python in python3 /usr/libexec/platform-python; do
  "${python}" -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null || continue
  gently=''
  if command -v nice >/dev/null 2>&1; then gently='nice -n 10'; fi
  # shellcheck disable=SC2086 # words, not one word
  exec ${gently} timeout -s TERM -k 10 "${LIMIT_SECONDS}" "${python}" - "${VOLUME_IDS}" "${READ_SECONDS}" <<'END_OF_THE_PROBE'
