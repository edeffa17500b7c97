#!/usr/bin/env python3
"""Writes src/ops/text/letter_case_table.inc: Unicode's simple case mappings, as this Python's unicodedata has them.

Usage: letter_case_table.py > src/ops/text/letter_case_table.inc
A line is a range: code points FIRST to LAST, every STEP-th, map to themselves plus DELTA.
"""
import sys
import unicodedata


def simple_upper(c):
    """The one code point of Unicode's simple mapping; Python has only the full one, which may be several."""
    full = c.upper()
    if len(full) == 1:
        return full
    title = c.title()
    return title if len(title) == 1 else c


def simple_lower(c):
    return c.lower()[0]


def ranges(mapping):
    found = []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code <= 0xDFFF:
            continue
        delta = ord(mapping(chr(code))) - code
        if delta == 0:
            continue
        last = found[-1] if found else None
        step = code - last[1] if last else 0
        if last and last[3] == delta and step in (1, 2) and last[2] in (0, step):
            last[1], last[2] = code, step
        else:
            found.append([code, code, 0, delta])
    return [(first, last, step or 1, delta) for first, last, step, delta in found]


def write(name, mapping):
    print(f"constexpr CaseRange {name}[] = {{")
    cells = [f"{{{a:#x}, {b:#x}, {step}, {delta}}}," for a, b, step, delta in ranges(mapping)]
    line = "   "
    for cell in cells:
        if len(line) + 1 + len(cell) > 110:
            print(line)
            line = "   "
        line += " " + cell
    print(line)
    print("};")


print(f"// Written by tools/letter_case_table.py from Unicode {unicodedata.unidata_version}. Do not edit.")
write("kToUpper", simple_upper)
write("kToLower", simple_lower)
