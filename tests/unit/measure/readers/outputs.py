"""Outputs of fio by hand, small, for what the seeds do not show."""

import json


def a_side(iops: float = 1000.0, *, block: int = 16384, p99_ns: int = 2_000_000, operations: int | None = None) -> dict:
    """A direction as fio 3.x prints it, of a minute unless it says how many operations it did."""
    operations = int(iops * 60) if operations is None else operations
    return {
        "bw_bytes": int(iops * block),
        "bw": int(iops * block) // 1024,
        "iops": iops,
        "runtime": int(1_000 * operations / iops),
        "total_ios": operations,
        "clat_ns": {
            "min": 100_000,
            "max": 9_000_000,
            "mean": 1_000_000.5,
            "stddev": 5_000.25,
            "N": operations,
            "percentile": {"50.000000": 1_000_000, "99.000000": p99_ns},
        },
    }


IDLE = {
    "bw_bytes": 0,
    "bw": 0,
    "iops": 0.0,
    "runtime": 0,
    "total_ios": 0,
    "clat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
}


def a_job(name: str = "job", group: int = 0, *, options: dict | None = None, **fields) -> dict:
    """A job that read 16 KiB at random."""
    told = {"rw": "randread", "bs": "16k", "ioengine": "libaio", "iodepth": "32", "direct": "1"}
    told |= {"filename": "/dev/nvme1n1"} | (options or {})
    job = {"jobname": name, "groupid": group, "error": 0, "job options": told, "read": a_side(), "write": IDLE}
    return job | fields


def fio_json(*jobs: dict, **fields) -> str:
    """fio 3.x's JSON of these jobs."""
    whole = {"fio version": "fio-3.36", "time": "Sat Nov 21 14:06:02 2026", "jobs": list(jobs)}
    return json.dumps(whole | fields, indent=2)


OLD_JSON = """{
  "fio version" : "fio-2.14",
  "jobs" : [ {
    "jobname" : "old", "groupid" : 0, "error" : 0,
    "read" : {
      "io_bytes" : 480000, "bw" : 48000, "iops" : 3000.5, "runtime" : 10000,
      "slat" : {"min" : 1, "max" : 5, "mean" : 2.5, "stddev" : 0.5},
      "clat" : {"min" : 240, "max" : 34053, "mean" : 5291.19, "stddev" : 737.18,
        "percentile" : {"1.000000" : 2802, "99.000000" : 6816, "0.00" : 0}},
      "bw_agg" : -nan
    },
    "write" : {"io_bytes" : 0, "bw" : 0, "iops" : 0.00, "runtime" : 0,
      "clat" : {"min" : 0, "max" : 0, "mean" : 0.00, "stddev" : 0.00, "percentile" : {"0.00" : 0}}}
  } ],
  "disk_util" : [ {"name" : "xvdb", "read_ios" : 30010, "write_ios" : 4, "util" : 99.5} ]
}"""

OLD_TEXT = """
fio-2.14
rread: (g=0): rw=randread, bs=16K-16K/16K-16K/16K-16K, ioengine=libaio, iodepth=16
Starting 1 process

rread: (groupid=0, jobs=1): err= 0: pid=3034: Mon Dec 14 04:25:07 2020
  read : io=480000KB, bw=48000KB/s, iops=3000, runt= 10000msec
    slat (usec): min=1, max=58, avg= 4.90, stdev= 2.51
    clat (usec): min=240, max=34K, avg=5291.19, stdev=737.18
     lat (usec): min=245, max=34053, avg=5296.29, stdev=737.17
    clat percentiles (usec):
     |  1.00th=[ 2802], 50.00th=[ 5276], 99.00th=[ 6816]
    bw (KB  /s): min=45434, max=51000, per=99.99%, avg=47999.49, stdev=331.31
    lat (usec) : 250=0.01%, 500=0.40%
  cpu          : usr=0.06%, sys=0.15%, ctx=546245, majf=0, minf=218
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=100.0%, 32=0.0%, >=64=0.0%
     issued    : total=r=30000/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=480000KB, aggrb=48000KB/s, minb=48000KB/s, maxb=48000KB/s, mint=10000msec, maxt=10000msec

Disk stats (read/write):
  xvdb: ios=30010/4, merge=0/1, ticks=158000/0, in_queue=158000, util=99.50%
"""

OLD_SYSBENCH = """
$ sysbench fileio --file-total-size=2G --file-test-mode=rndrw --file-extra-flags=direct --threads=4 --time=60 run
sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)
Number of threads: 4
Block size 16KiB
Doing random r/w test

File operations:
    reads/s:                      1200.50
    writes/s:                     800.25
    fsyncs/s:                     2561.00

Throughput:
    read, MiB/s:                  18.76
    written, MiB/s:               12.50

General statistics:
    total time:                          60.0300s
    total number of events:              273900

Latency (ms):
         min:                                    0.00
         avg:                                    0.22
         max:                                   21.75
         99th percentile:                        1.10
         sum:                                59680.30
$ sysbench mutex run
General statistics:
    total time:                          2.0000s
    total number of events:              5

Latency (ms):
         min:                                    1.00
         avg:                                    2.00
         max:                                    3.00
         95th percentile:                        2.50
         sum:                                   10.00
"""
