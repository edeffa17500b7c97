#!/usr/bin/env python3
"""Runs programs on an emulated CPU that this machine is not: AVX-512 with or without VNNI and BF16, or no AVX at all.

    emulate.py --cpu tigerlake --program build/kernels_tests --run 'kernels_tests --gtest_filter=Convert*'

Bochs emulates the CPU, a Linux kernel runs on it, and a busybox shell runs the commands. No BIOS, boot loader or disk is
needed: loader.s is the machine's ROM. Packages: busybox-static cpio lz4 binutils dpkg, and the kernel, which is fetched
by apt-get (linux-image-cloud-amd64, not installed). Bochs: 3.0 or later (`--bochs PATH`); Linux refuses the AVX-512
registers of 2.7's tigerlake, and BF16 (sapphire_rapids) came with 3.0. CONTRIBUTING.md says how it is configured.

Exit status: 0 when every command ended with 0; 77 where something is missing; 1 otherwise.
"""

import argparse
import lzma
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
BOOT_PARAMS, COMMAND_LINE = 0x8000, 0xA000
# No BIOS tables, no interrupt controllers beyond the oldest, nothing that costs time. Linux 6.1 trusts `fsrm` where `erms` is
# not enabled, and then its memmove overwrites all memory; without XFD it enables only one half of AMX's state, which faults.
OPTIONS = ("console=ttyS0,115200 loglevel=1 nosmp noreplace-smp mitigations=off nokaslr nolapic noapic acpi=off pci=off tsc=reliable "
           "no_timer_check lpj=200000 panic=-1 reboot=t,force random.trust_cpu=on nowatchdog audit=0 lsm= idle=halt "
           "clearcpuid=fsrm,amx_tile i8042.nopnp i8042.noaux i8042.nokbd")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /tmp /dev/shm
export HOME=/tmp OMP_NUM_THREADS=1
cd /tmp
stty -F /dev/console -onlcr 2>/dev/null
echo "@@@ begin"
sh /commands
echo "@@@ end"
for c in S h u t d o w n; do printf $c | dd of=/dev/port bs=1 seek=35072 conv=notrunc 2>/dev/null; done
reboot -f
"""


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(77)


def fetch_kernel(folder):
    """The newest kernel that apt-get knows, unpacked below `folder`; one that is there already is taken."""
    found = sorted(folder.glob("kernel/boot/vmlinuz-*"))
    if found:
        return found[-1]
    depends = subprocess.run(["apt-cache", "depends", "linux-image-cloud-amd64"], capture_output=True, text=True).stdout
    match = re.search(r"Depends: (linux-image-\S+)", depends)
    if not match:
        skip("apt-cache knows no linux-image-cloud-amd64 (apt-get update?)")
    with tempfile.TemporaryDirectory(dir=folder) as download:
        got = subprocess.run(["apt-get", "download", match[1]], cwd=download, capture_output=True, text=True)
        packages = list(pathlib.Path(download).glob("*.deb"))
        if not packages:
            skip(f"apt-get cannot download {match[1]}: {got.stderr.strip().splitlines()[-1:]}")
        subprocess.run(["dpkg", "-x", packages[0], folder / "kernel"], check=True)
    return max(folder.glob("kernel/boot/vmlinuz-*"))


def decompress(data):
    if data[:6] == b"\xfd7zXZ\x00":
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(data)
    if data[:2] == b"\x1f\x8b":
        return zlib.decompressobj(31).decompress(data)
    for magic, tool in ((b"\x02\x21\x4c\x18", "lz4"), (b"\x28\xb5\x2f\xfd", "zstd")):
        if data[:4] == magic:
            if shutil.which(tool) is None:
                skip(f"{tool} is not installed")
            # What follows the frame is the size, four bytes.
            return subprocess.run([tool, "-dcq"], input=data[:-4], capture_output=True, check=True).stdout
    sys.exit(f"the kernel is compressed in a way that is unknown here: {data[:8].hex()}")


def kernel_parts(image):
    """(setup header, entry, [(address, bytes)]) of a bzImage, whose own decompressor would run for minutes."""
    data = image.read_bytes()
    if data[0x202:0x206] != b"HdrS":
        sys.exit(f"{image} is no bzImage")
    offset, length = struct.unpack_from("<II", data, 0x248)
    begin = (data[0x1F1] + 1) * 512 + offset
    elf = decompress(data[begin : begin + length])
    entry, headers = struct.unpack_from("<QQ", elf, 24)
    size, count = struct.unpack_from("<HH", elf, 54)
    parts = []
    for i in range(count):
        kind, _, at, _, address, in_file, _, _ = struct.unpack_from("<IIQQQQQQ", elf, headers + i * size)
        if kind == 1 and in_file:
            parts.append((address, elf[at : at + in_file]))
    return data[0x1F1 : 0x202 + data[0x201]], entry, parts


def boot_parameters(header, memory, initrd_at, initrd_size):
    page = bytearray(4096)
    page[0x1F1 : 0x1F1 + len(header)] = header
    page[0x210] = 0xFF  # a loader without a number
    struct.pack_into("<II", page, 0x218, initrd_at, initrd_size)
    struct.pack_into("<I", page, 0x228, COMMAND_LINE)
    page[0x1E8] = 2
    struct.pack_into("<QQI", page, 0x2D0, 0, 0x9F000, 1)
    struct.pack_into("<QQI", page, 0x2D0 + 20, 0x100000, memory - 0x100000, 1)
    return bytes(page)


def rom(folder, entry, parts):
    """loader.s with its table. parts: [(first sector, sectors, address)]."""
    obj, elf, out = folder / "loader.o", folder / "loader.elf", folder / "loader.rom"
    subprocess.run(["as", "--64", "-o", obj, HERE / "loader.s"], check=True)
    subprocess.run(["ld", "-Ttext", "0xf0000", "-o", elf, obj], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", elf, out], check=True)
    image = bytearray(out.read_bytes())
    struct.pack_into("<II", image, 0xF000, BOOT_PARAMS, entry)
    for i, part in enumerate(parts):
        struct.pack_into("<III", image, 0xF008 + 12 * i, *part)
    out.write_bytes(image)
    return out


def libraries(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return [pathlib.Path(p) for p in re.findall(r"(/\S+) \(0x", listed)]


def initrd(folder, args):
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    for d in ("bin", "dev", "proc", "sys", "tmp", "lib64", "lib/x86_64-linux-gnu"):
        (root / d).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin/busybox")
    if libraries(root / "bin/busybox"):
        skip("busybox is not linked statically (package busybox-static)")
    for program in args.program:
        subprocess.run(["strip", "-o", root / "bin" / pathlib.Path(program).name, program], check=True)
        for library in [pathlib.Path(p) for p in libraries(program)]:
            to = root / ("lib64" if "ld-linux" in library.name else "lib/x86_64-linux-gnu") / library.name
            if not to.exists():
                shutil.copy(library, to)
    for pair in args.file:
        host, _, guest = pair.partition("=")
        to = root / (guest or "tmp/" + pathlib.Path(host).name).lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        if pathlib.Path(host).is_dir():
            shutil.copytree(host, to, dirs_exist_ok=True)
        else:
            shutil.copy(host, to)
    lines = []
    for command in args.run:
        quoted = "'" + command.replace("'", "'\\''") + "'"
        lines += [f'printf "@@@ run %s\\n" {quoted}', "b=$(cut -d' ' -f1 /proc/uptime)", f"sh -c {quoted} 2>&1", "s=$?",
                  "echo \"@@@ status $s $b $(cut -d' ' -f1 /proc/uptime)\""]
    (root / "commands").write_text("\n".join(lines) + "\n")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
    archive = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names, capture_output=True, check=True)
    shutil.rmtree(root)
    return archive.stdout


def write_disk(folder, header, entry, parts, archive, memory, options):
    """The disk and the ROM that reads it."""
    end = max(address + len(data) for address, data in parts)
    initrd_at = (end + 0x4000000) & ~0xFFFFF  # beyond the kernel's zeroed part
    low = boot_parameters(header, memory, initrd_at, len(archive)).ljust(COMMAND_LINE - BOOT_PARAMS, b"\0") + options.encode() + b"\0"
    table, sector = [], 0
    disk = folder / "disk.img"
    with open(disk, "wb") as out:
        for address, data in [(BOOT_PARAMS, low), *parts, (initrd_at, archive)]:
            sectors = (len(data) + 511) // 512
            out.write(data.ljust(sectors * 512, b"\0"))
            table.append((sector, sectors, address))
            sector += sectors
        cylinders = sector // (16 * 63) + 1
        out.truncate(cylinders * 16 * 63 * 512)
    if len(table) > 31 or initrd_at + len(archive) > memory:
        sys.exit("the kernel and the files do not fit: give --memory more")
    return disk, cylinders, rom(folder, entry, table)


def start(args, folder, cylinders, help_text):
    features = "".join(f', {key}_features="{value}"' for key, value in (("add", args.add), ("exclude", args.exclude)) if value)
    display = "term" if args.display is None else args.display
    (folder / "bochsrc").write_text(f"""\
cpu: model={args.cpu}, count=1, ips={args.mips}000000, ignore_bad_msrs=1, reset_on_triple_fault=0{features}
memory: guest={args.memory}, host={args.memory}
romimage: file=loader.rom
vgaromimage: file=empty.rom
display_library: {display}
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path=disk.img, mode=flat, cylinders={cylinders}, heads=16, spt=63
com1: enabled=1, mode=file, dev=serial.txt
clock: sync=none
log: bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
""")
    (folder / "serial.txt").write_bytes(b"")
    (folder / "empty.rom").write_bytes(bytes(2048))
    command = [args.bochs, "-q", "-f", "bochsrc"]
    if "-rc" in help_text:  # Debian's has the debugger, which waits for a word
        (folder / "rc").write_text("c\n")
        command += ["-rc", "rc"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    os.set_blocking(ours, False)
    return process, ours


def drain(fd):
    """The emulator's screen, which nobody reads, must not fill the pseudo-terminal."""
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def watch(process, screen, serial, limit):
    """Prints what the machine says; returns [(command, status, emulated seconds)] and whether it came to its end."""
    results, command, done, partial = [], None, False, ""
    began = time.monotonic()
    with open(serial, encoding="utf-8", errors="replace") as text:
        while True:
            running = process.poll() is None
            drain(screen)
            for line in text.readlines():
                partial += line
                if not partial.endswith("\n"):
                    continue
                line, partial = partial.rstrip("\r\n"), ""
                if line.startswith("@@@ run "):
                    command = line[8:]
                    print(f"== {command}", flush=True)
                elif line.startswith("@@@ status "):
                    status, before, after = line.split()[2:5]
                    results.append((command, int(status), float(after) - float(before)))
                    print(f"== status {status}, {results[-1][2]:.1f} s of the machine's time", flush=True)
                    command = None
                elif line.startswith("@@@ end"):
                    done = True
                elif not line.startswith("@@@"):
                    print(line, flush=True)
            if not running:
                break
            if time.monotonic() - began > limit:
                print(f"== stopped after {limit} s", flush=True)
                process.kill()
                process.wait()
                break
            time.sleep(0.1)
    if command is not None:
        results.append((command, None, 0.0))
    return results, done


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the emulator goes, too
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bochs", default=os.environ.get("ASSAY_BOCHS", "bochs"), help="the emulator (or ASSAY_BOCHS)")
    parser.add_argument("--cpu", default="tigerlake", help="a model of `bochs --help cpu`")
    parser.add_argument("--add", default="", metavar="FEATURES", help="of `bochs --help features`, of 3.0 on")
    parser.add_argument("--exclude", default="", metavar="FEATURES")
    parser.add_argument("--memory", type=int, default=2048, help="MiB")
    parser.add_argument("--mips", type=int, default=100, help="instructions in a microsecond of the machine's time")
    parser.add_argument("--display", help="Bochs's display_library: term, or nogui where it is there")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/isa"), help="kernel and disk are kept there")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds")
    parser.add_argument("--program", action="append", default=[], help="put into /bin, with its shared libraries")
    parser.add_argument("--file", action="append", default=[], metavar="HOST[=GUEST]", help="a file or folder; /tmp otherwise")
    parser.add_argument("--run", action="append", default=[], metavar="COMMAND", help="by the shell, in /tmp")
    args = parser.parse_args()
    for tool in (args.bochs, "busybox", "cpio", "as", "ld", "objcopy", "dpkg", "apt-get"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    args.bochs = str(pathlib.Path(shutil.which(args.bochs)).resolve()) if "/" in args.bochs else args.bochs
    help_text = subprocess.run([args.bochs, "--help"], capture_output=True, text=True)
    help_text = help_text.stdout + help_text.stderr
    models = subprocess.run([args.bochs, "--help", "cpu"], capture_output=True, text=True)
    if not re.search(rf"^{re.escape(args.cpu)}$", models.stdout + models.stderr, re.M):
        skip(f"{args.bochs} knows no CPU {args.cpu}")
    args.work.mkdir(parents=True, exist_ok=True)
    kernel = fetch_kernel(args.work)
    with tempfile.TemporaryDirectory(dir=args.work, prefix="machine-") as name:
        folder = pathlib.Path(name).resolve()
        header, entry, parts = kernel_parts(kernel)
        disk, cylinders, _ = write_disk(folder, header, entry, parts, initrd(folder, args), args.memory << 20,
                                        f"{OPTIONS} tsc_early_khz={args.mips}000")
        process, screen = start(args, folder, cylinders, help_text)
        try:
            results, done = watch(process, screen, folder / "serial.txt", args.timeout)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if not done:
            log = folder / "bochs.log"
            print(log.read_text(errors="replace")[-2000:] if log.exists() else "", flush=True)
    bad = [(c, s) for c, s, _ in results if s != 0]
    for command, status in bad:
        print(f"== failed ({'no end' if status is None else status}): {command}", flush=True)
    print(f"== {len(results) - len(bad)} of {len(args.run)} commands passed on {args.cpu}", flush=True)
    sys.exit(0 if done and not bad and len(results) == len(args.run) else 1)


if __name__ == "__main__":
    main()
