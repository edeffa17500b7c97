"""The process in which assay runs Python scripts: python3 ARCHIVE REQUESTS ANSWERS CRASHES (file descriptors)."""

import sys


def main():
    requests, answers, crashes = map(int, sys.argv[1:4])
    from assay_child import server

    # What is imported from now on is the user's.
    archive = sys.path.pop(0)
    sys.path.append(archive)
    sys.argv = [""]
    server.serve(requests, answers, crashes)


main()
