"""What is installed is all that others need: programs, extension modules and scripts of templates are built and run
against the installed package alone. (tests/docs runs the documents.)

usage: install_test.py BUILD_FOLDER SOURCE_FOLDER
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from scenarios import Scenarios

BUILD, SOURCE = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()


class Installed(Scenarios, unittest.TestCase):
    SOURCE = SOURCE

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "installed"
        cls.run_words("cmake", "--install", BUILD, "--prefix", cls.prefix)
        libraries = [p.parent for p in cls.prefix.rglob("libassay.so")]
        cls.libraries = libraries[0]
        cls.env = os.environ | {"CMAKE_PREFIX_PATH": str(cls.prefix), "PKG_CONFIG_PATH": str(cls.libraries / "pkgconfig"),
                                "PATH": f"{cls.prefix}/bin:{os.environ['PATH']}", "HOME": str(cls.folder), "CMAKE_GENERATOR": "Ninja"}
        cls.env.pop("XDG_DATA_HOME", None)
        if (SOURCE / ".venv").exists():  # what scripts and ONNX Runtime run in
            cls.env = {"ASSAY_PYTHON": str(SOURCE / ".venv"), "ASSAY_ONNXRUNTIME": str(SOURCE / ".venv")} | cls.env

    @classmethod
    def run_words(cls, *words, folder=None, code=0, env=None):
        done = subprocess.run(list(map(str, words)), cwd=folder or cls.folder, env=env or getattr(cls, "env", None), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}"
        return done.stdout

    def build(self, source, name):
        build = self.folder / name
        self.run_words("cmake", "-S", source, "-B", build, "-DCMAKE_BUILD_TYPE=Debug")
        self.run_words("cmake", "--build", build)
        return build

    def test_programs(self):
        build = self.build(SOURCE / "tests/install/project", "project")
        for program in ["with_shared", "with_static"]:
            self.assertIn("worst difference 0", self.run_words(build / program, "m.onnx"))
        self.assertIn("libassay.so", self.run_words("ldd", build / "with_shared"))
        self.assertNotIn("libassay.so", self.run_words("ldd", build / "with_static"))

    def test_the_examples_of_the_api(self):
        build = self.build(SOURCE / "examples/api", "api")
        programs = sorted(p.stem for p in (SOURCE / "examples/api").glob("api*.cpp"))
        self.assertEqual(len(programs), 14)
        for program in programs:  # some use what those before them have saved
            self.run_words(build / program, folder=build)

    def test_pkg_config(self):
        flags = self.run_words("pkg-config", "--cflags", "--libs", "assay").split()
        self.run_words("c++", "-std=c++20", SOURCE / "tests/install/project/main.cpp", *flags, f"-Wl,-rpath,{self.libraries}", "-o", "packaged")
        self.assertIn("worst difference 0", self.run_words("./packaged", "p.onnx"))

    def test_a_generated_program_builds_as_it_says(self):
        self.run_words("assay", "template", "model", "mlp", "-o", "generated.onnx")
        words = ["assay", "run", "generated.onnx", "--engine", "--ref", "--save-outputs", "generated.json"]
        self.run_words(*words, "--gen-script", "it's generated.cpp")
        source = (self.folder / "it's generated.cpp").read_text()
        command = re.search(r"^//   (c\+\+ .*)$", source, re.MULTILINE).group(1)
        self.run_words("bash", "-ec", command)
        self.assertIn("PASSED | Runtime", self.run_words("./it's generated"))
        self.assertTrue((self.folder / "generated.json").exists())
        # Only what is installed is included.
        self.assertEqual({i for i in re.findall(r"#include <(assay/.*)>", source)}, {"assay/run.h"})

    def test_headers_stand_alone(self):
        lines = [f"#include <assay/{h.name}>" for h in sorted((self.prefix / "include/assay").glob("*.h"))]
        self.assertGreater(len(lines), 15)
        (self.folder / "all.cpp").write_text("\n".join(lines) + "\nint main() {}\n")
        self.run_words("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{self.prefix}/include", "all.cpp")
        (self.folder / "abi.c").write_text("#include <assay/extension_abi.h>\nint main(void) { return 0; }\n")
        self.run_words("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{self.prefix}/include", "abi.c")

    def test_the_openvino_module_is_found(self):
        shown = self.run_words("assay", "inspect", "extensions")
        self.assertIn("openvino 1.0", shown)
        self.assertIn(str(self.prefix / "lib/assay/extensions/openvino.so"), shown)
        self.run_words("assay", "template", "model", "mlp", "-o", "openvino_mlp.onnx")
        words = ["assay", "run", "openvino_mlp.onnx", "--openvino", "--openvino-library", self.folder / "none"]
        self.assertIn("there is no such file", self.run_words(*words, code=1))

    def test_a_new_extension_builds_and_works(self):
        self.run_words("assay", "template", "extension", "my_scale")
        self.run_words("assay", "template", "extension", "my_scale", code=1)
        self.run_words("assay", "template", "extension", "My-Scale", code=1)
        module = self.build(self.folder / "my_scale", "my_scale_build") / "my_scale.so"
        self.run_words("assay", "template", "model", "mlp", "-o", "mlp.onnx")
        words = ["assay", "run", "mlp.onnx", "--extension", module, "--ref", "--engine", "--my-scale", "--my-scale-factor", "3"]
        self.assertIn("_scaled", self.run_words(*words))
        self.run_words(*words[:-1], "inf", code=1)

    def test_scripts_of_templates_build_as_they_say(self):
        self.run_words("assay", "template", "model", "mlp", "-o", "template.onnx")
        for words in (["onnx-gs", "template.onnx", "--shape-inference", "--onnx-outputs", "mark", "all", "--fp-to-fp16"],
                      ["trt-network", "template.onnx", "--onnx-exclude-outputs", "nothing*"], ["trt-network"], ["trt-config", "template.onnx"],
                      ["trt-config"]):
            self.run_words("assay", "template", *words, "-o", "a script.cpp")
            source = (self.folder / "a script.cpp").read_text()
            self.run_words("bash", "-ec", re.search(r"^//   (c\+\+ .*)$", source, re.MULTILINE).group(1))
            self.run_words("./a script")
        self.assertTrue((self.folder / "template_updated.onnx").exists())

    def test_nothing_of_the_build_is_inherited(self):
        self.assertEqual(list(self.prefix.rglob("*.build")), [])
        bare = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        shown = self.run_words(self.prefix / "bin/assay", "inspect", "extensions", env=bare)
        self.assertIn(str(self.prefix / "lib/assay/extensions/openvino.so"), shown)
        self.assertNotIn(str(BUILD), shown)

    def test_a_source_file_of_an_extension_is_tidy(self):
        self.run_words("assay", "template", "extension", "tidy")
        lines = (self.folder / "tidy/tidy.cpp").read_text().splitlines()
        self.assertEqual([l for l in lines if l.startswith("   ") and "class " in l], [])
        self.assertIn("class Scale : public ext::Operator {", lines)


if __name__ == "__main__":
    unittest.main()
