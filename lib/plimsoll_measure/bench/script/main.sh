# This part: the three modes.

check_volume() {
  case ${VOLUME_ID#vol-} in
  '' | *[!0-9a-f]*) die parameters "'${VOLUME_ID}' is no volume id" ;;
  *) ;;
  esac
  case ${VOLUME_ID}:${DEVICE_NAME} in
  vol-*: | [0-9]*:?*) ;;
  *) die parameters "volume ${VOLUME_ID} with the device name '${DEVICE_NAME}' makes no sense" ;;
  esac
  case ${VOLUME_ID} in
  vol-*) ;;
  *[!0-9]*) die parameters "'${VOLUME_ID}' is no volume id" ;;
  *) ;;
  esac
  case ${DEVICE_NAME} in
  [.-]* | *[!A-Za-z0-9_.-]*) die parameters "'${DEVICE_NAME}' is no device name" ;;
  *) ;;
  esac
}

# Nothing is trusted that the document's patterns should have held.
check_values() {
  for number in "${LIMIT_SECONDS}" "${FILE_SIZE_MIB}" "${MOST_QUEUE}" "${MOST_LATENCY_US}"; do
    case ${number} in
    '' | *[!0-9]* | ??????????*) die parameters "'${number}' is no whole number of at most 9 digits" ;;
    *) ;;
    esac
  done
  case ${MODE}:${INITIALISE}:${VOLUME_ID} in
  inspect:*) return 0 ;;
  device:no:?* | device:copy:?* | file:no:?*) ;;
  *) die parameters "mode ${MODE} with Initialize ${INITIALISE} on volume '${VOLUME_ID}' makes no sense" ;;
  esac
  check_volume
  have timeout || [ -n "${simulated}" ] || die tools "the host has no timeout (coreutils)"
}

prepare() {
  take_lock
  make_work
  start_guard
  read_job
  find_device
}

# Blocks of a copy come from elsewhere when they are read for the first time.
initialize() {
  place=$(escaped "${device}")
  [ -n "${place}" ] || die tools "the place to read could not be written down"
  run_fio initialize --name=initialize --filename="${place}" --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 \
    --thread --readonly --allow_file_create=0 --output-format=json --output="${work}/initialized"
  check_io initialize "${work}/initialized"
}

on_device() {
  pin_device
  check_device
  need_fio
  [ -n "${simulated}" ] || measure_engine # fio is held to rates there
  if [ "${INITIALISE}" = copy ]; then
    initialize
    write_job "${device}"
    check_device
    measure --readonly
  else
    write_job "${device}" 'offset=1m' "size=$(($(device_bytes) - 2 * 1048576))"
    check_device
    measure
  fi
  check_held
}

# Runs the job, with fio's own options before it.
measure() {
  observe_bench
  run_fio fio "$@" --output-format=json --output="${work}/result" "${work}/job"
  check_io fio "${work}/result"
}

on_filesystem() {
  ! have nice || gently='nice -n 10'
  ! have ionice || gently="${gently} ionice -c 2 -n 7"
  find_filesystem
  check_room "${FILE_SIZE_MIB}"
  need_fio
  make_file
  watch
  lay_out_file
  if [ -n "${stopped}" ]; then return 0; fi
  write_job /dev/fd/8 "size=${FILE_SIZE_MIB}m" 'fallocate=none' 'overwrite=1'
  measure
}

check_values
set_deadline
case ${MODE} in
inspect) inspect ;;
device)
  prepare
  on_device
  answer
  ;;
*)
  prepare
  on_filesystem
  answer
  ;;
esac
