# This part: what the bench itself could do, before and beside the volume. It only reads, and runs fio without a device.

slot_s=0               # as long as one section of the job: the bench is judged by its worst slot
slots=0                # how many have ended
most_waited=''         # thousandths of a slot in which some task waited for a CPU (PSI); empty where not told
most_queued=0          # thousandths of the looks at which more tasks were ready than there are CPUs
most_stolen=0          # thousandths of the CPUs' time that the hypervisor gave to others
most_host_iops=''      # thousandths of a slot in which the host's own limit was exceeded; empty where not told
most_host_throughput=''
engine_ceilings=''     # what fio makes of each section without a device: "name":[operations, KiB]
cpus=1

# The sum of a section's and its ramp's seconds, by the first that the job says.
section_seconds() {
  for option in runtime ramp_time; do sed -n "s/^${option}=\([0-9]\{1,5\}\)s\{0,1\}\$/\1/p" "${work}/asked" | head -n 1; done |
    awk '{ total += $1 } END { print total + 0 }'
}

# fio by itself, a second of each section at its sizes and depth: a bench that makes no more than this cannot show more.
measure_engine() {
  {
    printf '[global]\nthread=1\nsize=1g\n'
    sed -E '/^(ioengine|rate|runtime|ramp_time|thinktime|startdelay|io_size|max_latency|latency_|end_fsync|f(data)?sync)/d
      /^\[/a\
ioengine=null\
time_based\
runtime=1' "${work}/asked"
  } >"${work}/job"
  run_fio fio --output-format=terse --terse-version=3 --output="${work}/engine-result" "${work}/job"
  # Of terse output 3: the section's name, then KiB and operations a second of reads (7, 8) and of writes (48, 49).
  engine_ceilings=$(awk -F ';' '$1 == 3 && !($3 in seen) {
    seen[$3]; printf "%s\"%s\":[%d,%d]", comma, $3, $8 + $49, $7 + $48; comma = ","
  }' "${work}/engine-result")
  [ -n "${engine_ceilings}" ] || die fio "fio told no rate without a device: $(tail -n 3 "${work}/noise")"
}

# Reads the counters of now: us that tasks waited for a CPU, ticks of all CPUs, and those of them that were stolen.
read_cpus() {
  read -r up _ </proc/uptime
  at_cs=${up%%.*}${up##*.}
  read -r _ user nice system idle iowait irq softirq stolen _ </proc/stat
  ticks=$((user + nice + system + idle + iowait + irq + softirq + stolen))
  waited_us=''
  if read -r _ _ _ _ told 2>/dev/null </proc/pressure/cpu; then waited_us=${told#total=}; fi
}

# The us in which the host's own IOPS and throughput were exceeded, by EBS's own page 0xD0 of the device (its first
# number is 0x3C23B510; amazon-ec2-utils, ebsnvme); empty where the device or the host has none.
read_host_limits() {
  host_iops_us='' host_throughput_us=''
  case ${name} in nvme*) have nvme || return 0 ;; *) return 0 ;; esac
  page=$(bounded 5 nvme get-log "${device}" --log-id=0xd0 --log-len=96 --raw-binary 2>/dev/null |
    od -A n -v -t u8 | tr -s ' \n' ' ') || return 0
  # shellcheck disable=SC2086 # numbers, one word each
  set -- ${page}
  [ "${1:-}" = 1008973072 ] && [ "$#" -eq 12 ] || return 0
  host_iops_us=${10} host_throughput_us=${11}
}

# Operations and sectors of every other disk of the host since it was started.
read_others() {
  others=$(while read -r _ _ node reads _ read_sectors _ writes _ write_sectors _; do
    if [ -e "/sys/block/${node}/device" ] && [ "${node}" != "${name}" ]; then
      echo "$((reads + writes)) $((read_sectors + write_sectors))"
    fi
  done </proc/diskstats | awk '{ done += $1; sectors += $2 } END { printf "%.0f %.0f", done, sectors }')
}

begin_slot() {
  slot_cs=${at_cs} slot_waited=${waited_us} slot_ticks=${ticks} slot_stolen=${stolen} looks=0 queued=0
  read_host_limits
  slot_host_iops=${host_iops_us} slot_host_throughput=${host_throughput_us}
}

observe_bench() {
  cpus=$(grep -c '^cpu[0-9]' /proc/stat) || die tools "the CPUs of this host cannot be counted"
  slot_s=$(section_seconds)
  read_cpus
  began_cs=${at_cs}
  read_others
  others_before=${others}
  begin_slot
  observed=yes
}

# The greater of two numbers, of which each may be empty.
greater() { if [ "${1:-0}" -gt "${2:-0}" ] || [ -z "$2" ]; then echo "$1"; else echo "$2"; fi; }

# Thousandths of the slot that a count of us grew by; nothing where one of the two was not told.
share_of_slot() {
  if [ -n "$1" ] && [ -n "$2" ] && [ "$2" -ge "$1" ]; then echo $((($2 - $1) / (10 * (at_cs - slot_cs)))); fi
}

end_slot() {
  [ "${at_cs}" -gt "${slot_cs}" ] && [ "${ticks}" -gt "${slot_ticks}" ] || return 0
  most_waited=$(greater "$(share_of_slot "${slot_waited}" "${waited_us}")" "${most_waited}")
  most_stolen=$(greater $((1000 * (stolen - slot_stolen) / (ticks - slot_ticks))) "${most_stolen}")
  [ "${looks}" -eq 0 ] || most_queued=$(greater $((1000 * queued / looks)) "${most_queued}")
  read_host_limits
  most_host_iops=$(greater "$(share_of_slot "${slot_host_iops}" "${host_iops_us}")" "${most_host_iops}")
  most_host_throughput=$(greater "$(share_of_slot "${slot_host_throughput}" "${host_throughput_us}")" "${most_host_throughput}")
  slots=$((slots + 1))
}

# Once a second while the volume is measured.
look_at_bench() {
  [ -n "${observed}" ] || return 0
  read_cpus
  looks=$((looks + 1))
  ready=$(sed -n 's/^procs_running //p' /proc/stat)
  [ -n "${ready}" ] || die tools "the kernel does not tell how many tasks are ready"
  if [ "${ready}" -gt $((cpus + 1)) ]; then queued=$((queued + 1)); fi # this shell's sed is one of them
  if [ "${slot_s}" -gt 0 ] && [ $((at_cs - slot_cs)) -ge $((100 * slot_s)) ]; then
    end_slot
    begin_slot
  fi
}

observed=''

# What is left of the last slot counts if it is half a slot, or the only one.
bench_json() {
  [ -n "${observed}" ] || {
    echo null
    return 0
  }
  read_cpus
  if [ "${slots}" -eq 0 ] || [ $((at_cs - slot_cs)) -ge $((50 * slot_s)) ]; then end_slot; fi
  read_others
  whole_cs=$((at_cs - began_cs))
  [ "${whole_cs}" -gt 0 ] || whole_cs=1
  beside=$(echo "${others_before} ${others} ${whole_cs}" | awk '{
    printf "\"other_iops\":%.0f,\"other_throughput_kib_s\":%.0f", ($3 - $1) * 100 / $5, ($4 - $2) * 50 / $5
  }')
  echo "{\"cpus\":${cpus},\"slots\":${slots},\"slot_s\":${slot_s},\"waited_permille\":${most_waited:-null},\
\"queued_permille\":${most_queued},\"stolen_permille\":${most_stolen},\
\"host_iops_exceeded_permille\":${most_host_iops:-null},\
\"host_throughput_exceeded_permille\":${most_host_throughput:-null},${beside},\"engine\":{${engine_ceilings}}}"
}
