#!/usr/bin/env python3
"""Makes bytes part of the program: the folder python/ as a zip archive, which Python can run, and the header that native
scripts include. Equal sources give equal bytes. Usage: embed.py PYTHON_FOLDER HEADER OUTPUT"""
import io
import pathlib
import sys
import zipfile


def archive(folder):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for path in sorted(folder.rglob("*.py")):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            file.writestr(entry, path.read_bytes())
    return out.getvalue()


def array(name, data):
    lines = [",".join(map(str, data[i:i + 40])) for i in range(0, len(data), 40)]
    return f"constexpr unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main():
    folder, header, output = map(pathlib.Path, sys.argv[1:])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(array("kPythonArchive", archive(folder)) + array("kScriptHeader", header.read_bytes()))


if __name__ == "__main__":
    main()
