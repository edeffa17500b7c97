#!/usr/bin/env python3
"""Where memory is short a command ends with one sentence and status 1: it is neither killed nor aborts.

usage: small_memory_test.py ASSAY

A model of Ifs in Ifs, which is small as a file and large as a plan, in a control group of 256 MB (as the program reads it from a
folder that stands for /) and under limits of the address space down to where the program can just begin.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "growth"))
import models  # noqa: E402

ASSAY = os.path.abspath(sys.argv.pop(1))
MB = 1 << 20
GROUP_MB = 256


def tree(depth):
    """Ifs whose branches are Ifs, `depth` of them deep."""
    count = 0

    def nodes(left, result):
        nonlocal count
        if left == 0:
            return [models.node("Neg", ["x"], [result], f"n{result}")]
        count += 1
        name, results = f"if{count}", (f"a{count}", f"b{count}")
        branches = [models.graph_attribute(branch, models.body(nodes(left - 1, r), [models.value_info(r, [2])]))
                    for branch, r in zip(("then_branch", "else_branch"), results)]
        return [models.node("If", ["c"], [result], name, attributes=branches)]

    return models.model(nodes(depth, "y"), [models.X, models.value_info("c", [], models.BOOL)], [models.Y])


class SmallMemory(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_assay(self, *words, address_mb=None, **variables):
        def limit():
            if address_mb is not None:
                resource.setrlimit(resource.RLIMIT_AS, (address_mb * MB, address_mb * MB))

        log = self.folder / "log"
        with open(log, "wb") as out:
            process = subprocess.Popen([ASSAY, *words], cwd=self.folder, stdout=out, stderr=subprocess.STDOUT, preexec_fn=limit,
                                       env={**os.environ, "OMP_NUM_THREADS": "2", **variables})
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, log.read_text(errors="replace"), usage.ru_maxrss / 1024

    def group(self):
        """A folder that stands for / and says that the process may have GROUP_MB."""
        root = self.folder / "root"
        (root / "proc/self").mkdir(parents=True)
        (root / "sys/fs/cgroup/container").mkdir(parents=True)
        (root / "proc/self/cgroup").write_text("0::/container\n")
        (root / "proc/self/mountinfo").write_text("30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n")
        (root / "sys/fs/cgroup/container/memory.max").write_text(f"{GROUP_MB * MB}\n")
        return str(root)

    def test_in_a_container(self):
        (self.folder / "m.onnx").write_bytes(tree(14))
        status, said, most_mb = self.run_assay("run", "m.onnx", "--engine", ASSAY_CONTROL_GROUP_ROOT=self.group())
        self.assertEqual(status, 1, said)
        self.assertRegex(said.splitlines()[-1], r"^\[!\] .*memory")
        self.assertLess(most_mb, GROUP_MB, said)

    def test_near_the_limit(self):
        (self.folder / "m.onnx").write_bytes(tree(8))
        ends = set()
        for address_mb in range(64, 136, 4):
            status, said, _ = self.run_assay("run", "m.onnx", "--engine", address_mb=address_mb)
            if status == 127 and "error while loading shared libraries" in said:
                continue  # too little for the program itself
            ends.add(status)
            self.assertIn(status, (0, 1), said)
            if status == 1:
                self.assertRegex(said.splitlines()[-1], r"^\[!\] .*(memory|thread)", f"{address_mb} MB: {said}")
        self.assertEqual(ends, {0, 1}, "none of the limits, or each of them, was enough")


if __name__ == "__main__":
    unittest.main()
