"""The ways to the modules: install(), python -m assay.compat, from assay.compat import."""

import os
import tempfile
import unittest

from support import CompatTest, run_program, run_python

SCRIPT = """import sys
import tensorrt as trt
from cuda import cudart
print(trt.__assay__, cudart.__assay__, sys.argv[1:], __name__)
"""


class WaysIn(CompatTest):
    def check(self, done, *words):
        code, out, err = done
        self.assertEqual(code, 0, err)
        for word in words:
            self.assertIn(word, out)

    def test_no_import_finds_them_by_itself(self):
        code, _, err = run_python("-c", "import assay.compat, tensorrt")
        self.assertEqual(code, 1)
        self.assertIn("ModuleNotFoundError", err)

    def test_a_script_is_run_with_its_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w") as file:
                file.write(SCRIPT)
            self.check(run_python("-m", "assay.compat", script, "-m", "--real", "x"), "True True ['-m', '--real', 'x'] __main__")

    def test_the_program_runs_a_script_with_its_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("script.py", SCRIPT + "import beside\n"), ("beside.py", "print('beside')\n")):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            script = os.path.join(folder, "script.py")
            words = ("--extension", "-m", "--real", "--help")
            self.check(run_program("python", script, *words), f"True True {list(words)} __main__\nbeside")
            self.check(run_program("python", "-m", "script", *words, folder=folder), f"True True {list(words)} __main__\nbeside")
            # What lies in the folder where it is called is nobody's import.
            with open(os.path.join(folder, "assay.py"), "w") as file:
                file.write("raise SystemExit('not the package')\n")
            self.check(run_program("python", "-c", "import tensorrt, sys; print(tensorrt.__assay__, sys.argv)", "--list",
                                   folder=folder), "True ['-c', '--list']")

    def test_the_program_ends_as_the_script_does(self):
        self.assertEqual(run_program("python", "-c", "raise SystemExit(7)")[0], 7)
        code, _, err = run_program("python", "-c", "import os; os.kill(os.getpid(), 15)")
        self.assertEqual((code, err), (-15, ""))

    def test_the_program_says_what_it_lacks(self):
        code, _, err = run_program("python", "nowhere.py")
        self.assertEqual((code, err), (2, "assay python: there is no script nowhere.py\n"))
        code, _, err = run_program("python")
        self.assertEqual(code, 2)
        self.assertIn("a script is needed", err)
        code, _, err = run_program("python", "--python", "/nowhere/python3", "x.py")
        self.assertEqual(code, 1)
        self.assertIn("/nowhere/python3", err)
        self.check(run_program("python", "--list", "--real", "pycuda"), "tensorrt", "(not installed)")
        self.check(run_program("python", "--help"), "usage: assay python", "--only-missing", "SCRIPT.py")

    def test_children_get_them_too(self):
        code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import tensorrt; print(tensorrt.__assay__)'])"
        self.check(run_python("-m", "assay.compat", "-c", code), "True")

    def test_its_version_can_be_asked_for(self):
        code = "import importlib.metadata as m, tensorrt; assert m.version('tensorrt') == tensorrt.__version__; print('same')"
        self.check(run_python("-m", "assay.compat", "-c", code), "same")

    def test_one_module_by_name(self):
        self.check(run_python("-c", "from assay.compat import tensorrt as t; print(t.__file__)"), "compat")

    def test_install_refuses_a_package_that_is_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "tensorrt"))
            with open(os.path.join(folder, "tensorrt", "__init__.py"), "w") as file:
                file.write("other = True\n")
            here = f"import sys; sys.path.insert(0, {folder!r}); "
            code, _, err = run_python("-c", here + "import tensorrt, assay.compat as c; c.install()")
            self.assertEqual(code, 1)
            self.assertIn("loaded already", err)
            for call in ("c.install(real='tensorrt')", "c.install(only_missing=True)"):
                self.check(run_python("-c", here + f"import assay.compat as c; {call}; import tensorrt; print(tensorrt.other)"),
                           "True")
            self.check(run_python("-c", here + "import assay.compat as c; c.install(); import tensorrt; print(tensorrt.__assay__)"),
                       "True")

    def test_the_list_says_where_each_name_comes_from(self):
        self.check(run_python("-m", "assay.compat", "--list", "--real", "pycuda"), "tensorrt", "(not installed)")
        self.assertEqual(run_python("-m", "assay.compat", "--list", "--real", "nothing")[0], 1)


if __name__ == "__main__":
    unittest.main()
