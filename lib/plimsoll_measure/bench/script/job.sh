# This part: the job. fio runs as root and its options can name files and commands, so only these may be given, and the
# script alone says where to write.

JOB_LINE='\[[A-Za-z0-9_.-]+\]'
JOB_LINE="${JOB_LINE}|(time_based|group_reporting|norandommap|stonewall|refill_buffers|scramble_buffers|new_group|\
wait_for_previous|randrepeat|allrandrepeat|lat_percentiles|clat_percentiles|slat_percentiles|unified_rw_reporting|\
gtod_reduce|sync|bs_is_seq_rand)(=[01])?"
JOB_LINE="${JOB_LINE}|ioengine=(libaio|io_uring|posixaio|psync|pvsync|pvsync2|sync|vsync)"
JOB_LINE="${JOB_LINE}|(bs|blocksize|bsrange|blocksize_range|bssplit|blockalign|ba|rwmixread|rwmixwrite|iodepth|\
iodepth_batch|iodepth_batch_submit|iodepth_batch_complete_min|iodepth_batch_complete_max|iodepth_low|numjobs|runtime|\
ramp_time|startdelay|rate|rate_min|rate_iops|rate_iops_min|rate_process|rate_cycle|thinktime|thinktime_blocks|fsync|\
fdatasync|end_fsync|percentile_list|percentage_random|random_distribution|random_generator|randseed|io_size|\
buffer_compress_percentage|max_latency|latency_target|latency_window|latency_percentile|significant_figures)=\
[A-Za-z0-9.,:/%_-]+"
MOST_LINE=1000 # characters; fio goes on with what is beyond its own 4,096 as with a line of its own

# Reads the job that was given, one option a line, without blanks around them and without comments. What is measured is
# made of the lines that were found to be allowed, never of what is left when others were found not to be.
read_job() {
  allowed="${JOB_LINE}|direct=1|(rw|readwrite)=((rand)?(read|write|rw)|readwrite)" only=''
  if [ "${INITIALISE}" != no ]; then
    allowed="${JOB_LINE}|direct=1|(rw|readwrite)=(rand)?read" only='only reads are measured on a copy, and '
  fi
  printf '%s' "${JOB}" | base64 -d >"${work}/given" 2>/dev/null || die job "the job is not base64"
  echo >>"${work}/given" # its last line may have no end
  tr -c -d '\n -~' <"${work}/given" >"${work}/printable" || die job "the job could not be read"
  has_same_size "${work}/given" "${work}/printable" || die job "the job may not hold bytes that cannot be printed here"
  awk -v most="${MOST_LINE}" 'length($0) > most { exit 1 }' "${work}/given" ||
    die job "the job may not say more than ${MOST_LINE} characters in a line here"
  sed -e 's/^ *//' -e 's/ *$//' -e 's/ *= */=/' -e '/^[#;]/d' -e '/^$/d' "${work}/given" >"${work}/normal" ||
    die job "the job could not be read"
  holds_line "${work}/normal" '^\[' || die job "the job has no section"
  code=0
  grep -a -x -E -e "${allowed}" "${work}/normal" >"${work}/asked" || code=$?
  [ "${code}" -le 1 ] || die job "the job could not be checked: grep ended with ${code}"
  has_same_size "${work}/normal" "${work}/asked" ||
    die job "${only}the job may not say '$(grep -a -v -x -E -e "${allowed}" "${work}/normal" | head -n 1)' here"
}

# Whether two files have as many bytes; not so where one cannot be counted.
has_same_size() { [ "$(wc -c <"$1")" -eq "$(wc -c <"$2")" ]; }

# Whether a line of a file matches. A search that could not be made ends the run.
holds_line() {
  code=0
  grep -a -q -e "$2" "$1" || code=$?
  [ "${code}" -le 1 ] || die tools "grep ended with ${code} on $1"
  return "${code}"
}

# The whole job: where ($1, with the colons that fio takes for separators escaped), then other lines, then what was
# asked. Threads, because the processes that fio makes leave its process group and would survive it; no file is made,
# so that a device that goes away is not replaced by a file of its name.
write_job() {
  place=$(escaped "$1")
  [ -n "${place}" ] || die tools "the place to measure could not be written down"
  shift
  {
    printf '[global]\nthread=1\ndirect=1\nallow_file_create=0\nexitall_on_error=1\nfilename=%s\n' "${place}"
    printf '%s\n' "$@"
    cat "${work}/asked"
  } >"${work}/job"
}

escaped() { printf '%s' "$1" | sed 's/:/\\:/g'; }
