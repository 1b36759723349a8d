# This part: the job. fio runs as root and its options can name files and commands, so only these may be given, and the
# script alone says where to write.

JOB_LINE='\[[A-Za-z0-9_.-]+\]'
JOB_LINE="${JOB_LINE}|(time_based|group_reporting|norandommap|stonewall|refill_buffers|scramble_buffers|new_group|\
wait_for_previous|randrepeat|allrandrepeat|lat_percentiles|clat_percentiles|slat_percentiles|unified_rw_reporting|\
gtod_reduce|sync|bs_is_seq_rand)(=[01])?"
JOB_LINE="${JOB_LINE}|direct=1|(rw|readwrite)=(rand)?(read|write|rw)|(rw|readwrite)=readwrite"
JOB_LINE="${JOB_LINE}|ioengine=(libaio|io_uring|posixaio|psync|pvsync|pvsync2|sync|vsync)"
JOB_LINE="${JOB_LINE}|(bs|blocksize|bsrange|blocksize_range|bssplit|blockalign|ba|rwmixread|rwmixwrite|iodepth|\
iodepth_batch|iodepth_batch_submit|iodepth_batch_complete_min|iodepth_batch_complete_max|iodepth_low|numjobs|runtime|\
ramp_time|startdelay|rate|rate_min|rate_iops|rate_iops_min|rate_process|rate_cycle|thinktime|thinktime_blocks|fsync|\
fdatasync|end_fsync|percentile_list|percentage_random|random_distribution|random_generator|randseed|io_size|\
buffer_compress_percentage|max_latency|latency_target|latency_window|latency_percentile|significant_figures)=\
[A-Za-z0-9.,:/%_-]+"

# Reads the job that was given, one option a line, without blanks around them and without comments.
read_job() {
  printf '%s' "${JOB}" | base64 -d >"${work}/given" 2>/dev/null || die job "the job is not base64"
  sed -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//' -e 's/[[:space:]]*=[[:space:]]*/=/' -e '/^[#;]/d' -e '/^$/d' \
    "${work}/given" >"${work}/asked"
  grep -q '^\[' "${work}/asked" || die job "the job has no section"
  refused=$(grep -v -x -E "${JOB_LINE}" "${work}/asked" | head -n 1) || :
  [ -z "${refused}" ] || die job "the job may not say '${refused}' here"
  [ "${INITIALISE}" = no ] || check_reads_only
}

check_reads_only() {
  refused=$(grep -E '^(rw|readwrite)=' "${work}/asked" | grep -v -x -E '(rw|readwrite)=(rand)?read' | head -n 1) || :
  [ -z "${refused}" ] || die job "only reads are measured on a copy, and the job says '${refused}'"
}

# The whole job: where ($1, with the colons that fio takes for separators escaped), then other lines, then what was
# asked. Threads, because the processes that fio makes leave its process group and would survive it; no file is made,
# so that a device that goes away is not replaced by a file of its name.
write_job() {
  {
    printf '[global]\nthread=1\ndirect=1\nallow_file_create=0\nexitall_on_error=1\nfilename=%s\n' \
      "$(printf '%s' "$1" | sed 's/:/\\:/g')"
    shift
    printf '%s\n' "$@"
    cat "${work}/asked"
  } >"${work}/job"
}
