"""Jobs that try to write elsewhere than to the volume, or to run something: bytes, by what each of them tries.

Each would write to `{other}`, or make the file `{mark}`, if what it hides got past the list of allowed options. What is
around that is a job that fio would run as it stands.
"""

from collections.abc import Iterator

PLAIN = b"[a]\nioengine=psync\nrw=randwrite\nbs=4k\nio_size=64k\n"
"""A job that is allowed."""

CONTROL = (*range(0x0A), *range(0x0B, 0x20), 0x7F)
BEYOND = (0x80, 0x85, 0xA0, 0xC2, 0xFE, 0xFF)

OPTIONS = (
    "filename={other}",
    " filename = {other}",
    "\tfilename\t=\t{other}",
    "FILENAME={other}",
    "Filename={other}",
    "filename ={other}",
    "filename={other}:{other}",
    "filename=$HOME/../{other}",
    "filename=${{PATH}}",
    "filename_format={other}",
    "directory=/",
    "opendir=/dev",
    "exec_prerun=touch {mark}",
    "exec_prerun = touch {mark}",
    "exec_postrun=touch {mark}",
    "EXEC_PRERUN=touch {mark}",
    "include {include}",
    "include\t{include}",
    "include:{include}",
    "write_bw_log={mark}",
    "write_lat_log={mark}",
    "write_iops_log={mark}",
    "write_hist_log={mark}",
    "log_store_compressed=1",
    "write_iolog={mark}",
    "read_iolog={include}",
    "replay_redirect={other}",
    "aux-path=/tmp",
    "aux_path=/tmp",
    "verify_state_save=1",
    "ioengine=exec",
    "ioengine=external:{include}",
    "ioengine=libaio:{include}",
    "ioengine=mmap",
    "bs=`touch {mark}`",
    "bs=$(touch {mark})",
    "bs=${{IFS}}",
    "bs=4k filename={other}",
    "bs=4k;filename={other}",
    "bs=4k\\\nfilename={other}",
    "bs=4k\rfilename={other}",
    "bs=4k\r\nfilename={other}",
    "; note\rfilename={other}",
    "# note\x00\nfilename={other}",
    "bs=4k # filename={other}",
    "[b] filename={other}",
    "[b]\rfilename={other}",
    "[b\nfilename={other}\n]",
    "[global]filename={other}",
    "[ global ]",
    "[../../{other}]",
    "[{other}]",
    "\ufeff[b]\nfilename={other}",
    "\u200bfilename={other}",
    "f\u0456lename={other}",
    "filename\uff1d{other}",
    "filename\u2028={other}",
    "\u00a0filename={other}",
    "--filename={other}",
    "name=b",
    "thread=0",
    "direct=0",
    "readonly=0",
    "offset=0",
    "offset_increment=1m",
    "size=100%",
    "filesize=1g",
    "allow_file_create=1",
    "allow_mounted_write=1",
    "create_on_open=1",
    "unlink=1",
    "rw=trim",
    "rw=randtrim",
    "rw=trimwrite",
    "trim_percentage=50",
    "zonemode=zbd",
    "cgroup=x",
    "uid=1",
    "profile=act",
    "client={mark}",
    "server",
)
"""Lines that are not allowed, in disguise and undisguised."""


def jobs(other: str, mark: str, include: str) -> Iterator[tuple[str, bytes]]:
    """Every hostile job with what it tries; `include` is a job file that does what its options are not let to do."""
    told = {"other": other, "mark": mark, "include": include}
    attack = f"filename={other}\nexec_prerun=touch {mark}\n".encode()
    for byte in (*CONTROL, *BEYOND):
        raw = bytes([byte])
        yield f"byte {byte:#04x} before an option", PLAIN.replace(b"bs=4k", b"bs=4k" + raw) + raw + b"\n" + attack
        yield f"byte {byte:#04x} in a comment alone", PLAIN + b"# " + raw + b"\n"
    for line in OPTIONS:
        text = line.format(**told).encode()
        yield repr(line), b"[global]\n" + text + b"\n" + PLAIN + text + b"\n"
    for length in (1001, 4095, 4096, 8191, 8192):
        value = b"percentile_list=" + b"1" * (length - 16)
        yield f"a line that ends after {length:,} characters", PLAIN + value + b"include:" + include.encode() + b"\n"
        yield f"blanks up to {length:,} characters", PLAIN + b"bs=4k" + b" " * (length - 5) + attack
        yield f"a comment of {length:,} characters", PLAIN + b";" * length + attack
    yield "no section", attack
    yield "no end of the last line", PLAIN + attack.rstrip(b"\n")
    yield "the attack alone", b"[a]\n" + attack
