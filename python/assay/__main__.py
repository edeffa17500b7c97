"""``python -m assay``: the program, in the place of this process."""

import os
import sys

from ._program import program


def main() -> None:
    path = program()
    os.execv(path, ["assay", *sys.argv[1:]])


if __name__ == "__main__":
    main()
