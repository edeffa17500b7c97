"""The binary has what makes a bug hard to exploit: read from its ELF headers, symbols and code.

usage: hardening_test.py BINARY [sanitized]
"""

import struct
import sys

PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 2, 3, 0x6474E551, 0x6474E552
ET_DYN, EXECUTABLE = 3, 1
DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_RPATH, DT_BIND_NOW, DT_RUNPATH, DT_FLAGS, DT_FLAGS_1 = 1, 5, 6, 15, 24, 29, 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x08000000
SHT_DYNSYM = 11


class Elf:
    """A 64-bit little-endian ELF file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
        (self.type, self.machine, _, _, program_at, section_at, _, _, program_size, programs, section_size, sections,
         _) = struct.unpack_from("<HHIQQQIHHHHHH", self.bytes, 16)
        # type, flags, offset, address, physical address, size in the file, size in memory, alignment
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, program_at + i * program_size) for i in range(programs)]
        # name, type, flags, address, offset, size, link, info, alignment, entry size
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, section_at + i * section_size) for i in range(sections)]

    def segments_of(self, kind):
        return [s for s in self.segments if s[0] == kind]

    def dynamic(self):
        entries = {}
        for _, _, offset, _, _, size, _, _ in self.segments_of(PT_DYNAMIC):
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", self.bytes, at)
                if tag == 0:
                    break
                entries.setdefault(tag, value)
        return entries

    def imported(self):
        """Names of the functions and objects that it takes from libraries."""
        names = set()
        for _, kind, _, _, offset, size, link, _, _, entry in self.sections:
            if kind != SHT_DYNSYM:
                continue
            texts = self.sections[link][4]
            for at in range(offset, offset + size, entry):
                name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", self.bytes, at)
                if section == 0:
                    end = self.bytes.index(b"\0", texts + name)
                    names.add(self.bytes[texts + name:end].decode())
        return names


def problems(elf, sanitized):
    dynamic, imported = elf.dynamic(), elf.imported()
    flags, flags_1 = dynamic.get(DT_FLAGS, 0), dynamic.get(DT_FLAGS_1, 0)
    if elf.type != ET_DYN or not elf.segments_of(PT_INTERP) or not flags_1 & DF_1_PIE:
        yield "it is not a position-independent executable"
    if not elf.segments_of(PT_GNU_RELRO):
        yield "its relocated tables stay writable: no RELRO"
    if not (flags & DF_BIND_NOW or flags_1 & DF_1_NOW or DT_BIND_NOW in dynamic):
        yield "functions are bound when they are first called, so that their table stays writable"
    stacks = elf.segments_of(PT_GNU_STACK)
    if not stacks or any(s[1] & EXECUTABLE for s in stacks):
        yield "its stack is executable"
    if any(s[1] & EXECUTABLE and s[1] & 2 for s in elf.segments):
        yield "a segment is both writable and executable"
    if DT_RPATH in dynamic or DT_RUNPATH in dynamic:
        # What is built here may name the folders of the build; a release must not name a relative one.
        texts = dynamic.get(DT_STRTAB, 0)
        for tag in (DT_RPATH, DT_RUNPATH):
            if tag in dynamic:
                at = texts + dynamic[tag]
                folders = elf.bytes[at:elf.bytes.index(b"\0", at)].decode().split(":")
                if any(not f.startswith(("/", "$ORIGIN")) for f in folders):
                    yield f"libraries are looked for in {folders}"
    if sanitized:
        return
    if "__stack_chk_fail" not in imported:
        yield "no function checks its stack (-fstack-protector-strong)"
    if not any(name.endswith("_chk") and name != "__stack_chk_fail" for name in imported):
        yield "no call of the C library is checked (_FORTIFY_SOURCE)"
    if not any("__glibcxx_assert_fail" in name for name in imported):
        yield "subscripts of the standard library are not checked (_GLIBCXX_ASSERTIONS)"


def main():
    found = list(problems(Elf(sys.argv[1]), sys.argv[2:] == ["sanitized"]))
    for problem in found:
        print(f"FAILED  {sys.argv[1]}: {problem}")
    print(f"{len(found)} properties are missing")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
