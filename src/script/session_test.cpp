#include "script/session.h"

#include <ctime>

#include "base/log.h"
#include "graph/import.h"
#include "script/script_test_util.h"
#include "script/temporary_model.h"

namespace assay::script::session_test {
namespace {

constexpr const char* kModel = R"(<ir_version: 8, opset_import: ["": 17]>
main (float[batch, 2] x, int64[3] k) => (float[batch, 2] y, int64[3] z) { y = Neg(x) z = Neg(k) }
)";

class ScriptSessionTest : public testing::Test {
 protected:
  void SetUp() override { ASSAY_NEEDS_PYTHON(); }

  RunnerReference runner(const std::string& text) {
    scripts_.add("runner.py", with_numpy(text), "");
    return parse_runner(scripts_.path("runner.py"));
  }
  std::unique_ptr<Session> open(const std::string& text,
                                std::vector<std::pair<std::string, std::string>> options = {}) {
    std::ofstream(scripts_.path("model.bin")) << "bytes";
    return open_script_session(runner(text), scripts_.path("model.bin"),
                               {test_interpreter(), std::move(options)});
  }
  std::string failure(const std::string& text,
                      std::vector<std::pair<std::string, std::string>> options = {}) {
    return error_of([&] { open(text, std::move(options)); });
  }
  std::string run_failure(const std::string& infer) {
    return error_of([&] { run(*open(kHead + infer), {Tensor::vector<float>({1, 2})}); });
  }
  static TensorList run(Session& session, const std::vector<Tensor>& feed) {
    TensorList out(session.outputs().size());
    session.run(feed, [&](size_t i, Tensor t) { out.at(i) = {session.outputs()[i].name, std::move(t)}; });
    return out;
  }

  static constexpr const char* kHead = R"(
class Runner:
    def __init__(self, model_path):
        self.model = open(model_path).read()
    def inputs(self):
        return {"x": ("float32", [None])}
    def outputs(self):
        return {"y": ("float32", [2]), "z": ("int64", None)}
)";
  Scripts scripts_;
};

TEST_F(ScriptSessionTest, AModelOfItsOwnFormat) {
  const auto session = open(R"(
class Runner:
    def __init__(self, model_path, scale="1"):
        self.text, self.scale = open(model_path).read(), float(scale)
    def inputs(self):
        return {"x": (np.float32, [None, "width", 3]), "s": (str, None)}
    def outputs(self):
        return {"y": ("float16", (2,)), "z": (np.dtype("int64"), [])}
    def infer(self, feed):
        assert self.text == "bytes" and feed["s"].tolist() == ["a"]
        return {"z": np.int64(feed["x"].size), "y": (self.scale * feed["x"].ravel()[:2]).astype(np.float16)}
)",
                            {{"scale", "2"}});
  ASSERT_EQ(session->inputs().size(), 2U);
  EXPECT_EQ(session->inputs()[0].type.str(),
            Type::tensor(DType::kFloat32, Dims{Dim(), Dim::symbol("width"), 3}).str());
  EXPECT_EQ(session->inputs()[1].type, Type::tensor(DType::kString));
  EXPECT_EQ(session->outputs()[0].type, Type::tensor(DType::kFloat16, Dims{2}));
  EXPECT_EQ(session->outputs()[1].type, Type::tensor(DType::kInt64, Dims{}));
  const TensorList out =
      run(*session, {Tensor::from<float>({1, 1, 3}, {1, 2, 3}), Tensor::vector<std::string>({"a"})});
  EXPECT_EQ(out[0].tensor.dtype(), DType::kFloat16);
  EXPECT_EQ(static_cast<const uint16_t*>(out[0].tensor.data())[1], 0x4400);  // 4
  EXPECT_EQ(out[1].tensor.item<int64_t>(), 3);
  EXPECT_GT(session->last_run_seconds(), 0);
}

TEST_F(ScriptSessionTest, TenLinesForAnOnnxModel) {
  const auto model = parse_text(kModel, "model.onnxtxt");
  const auto session = open_script_session(runner(R"(
class Negate:
    def __init__(self, model_path):
        assert open(model_path, "rb").read(1) == b"\x08"
    def infer(self, feed_dict):
        return {"y": -feed_dict["x"], "z": -feed_dict["k"]}
)"),
                                           ModelSource{model, ""}, {test_interpreter(), {}});
  EXPECT_EQ(session->inputs()[0].name, "x");
  EXPECT_EQ(session->inputs()[0].type, model->graph->inputs[0]->type);
  const TensorList out =
      run(*session, {Tensor::from<float>({1, 2}, {1, 2}), Tensor::vector<int64_t>({1, 2, 3})});
  EXPECT_TRUE(out[0].tensor.identical(Tensor::from<float>({1, 2}, {-1, -2})));
  EXPECT_TRUE(out[1].tensor.identical(Tensor::vector<int64_t>({-1, -2, -3})));
}

TEST_F(ScriptSessionTest, RunnersInPolygraphysShape) {
  const std::string mark = scripts_.path("mark");
  {
    const auto session = open(R"(
class Meta:
    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, shape
class Base:
    def activate(self): self.active = True
    def deactivate(self): open(")" +
                              mark + R"(", "w").write("deactivated")
class Runner(Base):
    def load(self, path): self.path = path
    def get_input_metadata(self): return {"x": Meta(np.float32, [2])}
    outputs = {"y": (np.float32, [2])}
    def infer(self, feed_dict):
        assert self.active and self.path.endswith("model.bin")
        return {"y": feed_dict["x"]}
    def last_inference_time(self): return 0.125
)");
    run(*session, {Tensor::vector<float>({1, 2})});
    EXPECT_EQ(session->last_run_seconds(), 0.125);
    EXPECT_FALSE(std::filesystem::exists(mark));
  }
  EXPECT_TRUE(std::filesystem::exists(mark));
}

TEST_F(ScriptSessionTest, WhichClass) {
  const std::string one = "class A:\n    def infer(self): pass\nclass Helper: pass\n";
  expect_contains(failure("class Helper: pass\n"),
                  {"no class of the script has a method infer()", "runner.py", "docs/guide/runners.md"});
  expect_contains(failure(one + "class B(A): pass\n"), {"several classes", "A, B", "runner.py:A"});
  const auto named = [&](const std::string& name) {
    runner(one);
    return error_of([&] {
      open_script_session(parse_runner(scripts_.path("runner.py:" + name)), scripts_.path("runner.py"),
                          {test_interpreter(), {}});
    });
  };
  expect_contains(named("C"), {"has no class 'C'", "the classes 'A', 'Helper'"});
  expect_contains(named("Helper"), {"'Helper' has no method infer()"});
  scripts_.add("r.so", "", "");
  expect_contains(error_of([&] { parse_runner(scripts_.path("r.so")); }), {"is not a Python file"});
}

TEST_F(ScriptSessionTest, BadRunners) {
  expect_contains(failure(std::string(kHead) + "    def infer(self, feed): pass", {{"speed", "fast"}}),
                  {"Runner takes no option 'speed'; it takes none", "runner.py"});
  expect_contains(
      failure("class R:\n    def __init__(self, path, mode='a', *, level=1): pass\n    def infer(self): pass",
              {{"speed", "1"}}),
      {"R takes no option 'speed'; it takes 'mode', 'level'", "at line 3"});
  expect_contains(
      failure("class R:\n    def __init__(self, path): raise OSError('broken')\n    def infer(self): pass"),
      {"OSError: broken", "at line 3 of function '__init__'", "runner.py"});
  expect_contains(failure("class R:\n    def __init__(self, path): pass\n    def infer(self): pass"),
                  {"R does not say what inputs the model has", "method inputs()", "runner.py"});
  const auto inputs = [&](const std::string& value) {
    return failure(
        "class R:\n    def __init__(self, path): pass\n    def infer(self): pass\n    def inputs(self): "
        "return " +
        value);
  };
  expect_contains(inputs("['x']"),
                  {"R.inputs gave is a list", "dictionary", "at line 5 of function 'inputs'"});
  expect_contains(inputs("{'x': 5}"), {"gave for 'x' is 5", "(dtype, shape)"});
  expect_contains(inputs("{'x': ('float23', [1])}"),
                  {"for 'x' has the type 'float23', which ONNX does not have"});
  expect_contains(error_of([&] {
                    open_script_session(runner(""), "/nowhere/model.pb", {test_interpreter(), {}});
                  }),
                  {"no model /nowhere/model.pb"});
}

TEST_F(ScriptSessionTest, BadOutputs) {
  expect_contains(run_failure("    def infer(self, feed): return {'y': feed['x']}"),
                  {"Runner.infer returned no output 'z'; it returned 'y'", "at line 10 of function 'infer'",
                   "runner.py"});
  expect_contains(run_failure("    def infer(self, feed): return {'y': np.zeros(2), 'z': np.int64(1)}"),
                  {"returned 'y' as float64[2], which is declared as float32[2]"});
  expect_contains(
      run_failure("    def infer(self, feed): return {'y': np.zeros(3, np.float32), 'z': np.int64(1)}"),
      {"returned 'y' as float32[3], which is declared as float32[2]"});
  expect_contains(
      run_failure("    def infer(self, feed): return {'y': feed['x'], 'z': np.int64(1), 'extra': feed['x']}"),
      {"returned 'extra', which is none of the outputs ('y', 'z')"});
  expect_contains(run_failure("    def infer(self, feed): return [feed['x']]"),
                  {"what Runner.infer returned is a list", "at line 10"});
  expect_contains(run_failure("    def infer(self, feed): return {'y': feed['w']}"),
                  {"KeyError: 'w'", "at line 10 of function 'infer'"});
  expect_contains(run_failure("    def infer(self, feed):\n        import os\n        os.abort()"),
                  {"was killed by signal 6", "runner.py", "while it ran Runner.infer", "line 12 in infer"});
  const auto session = open(std::string(kHead) + "    def infer(self, feed): return {}");
  expect_contains(error_of([&] { run(*session, {}); }), {"takes 1 inputs ('x'), not 0"});
}

TEST_F(ScriptSessionTest, WhatFailsAtItsEndIsAWarning) {
  const log::Capture capture;
  open(std::string(kHead) +
       "    def infer(self, feed): pass\n    def deactivate(self): raise ValueError('late')");
  expect_contains(capture.out(), {"[W] ValueError: late", "function 'deactivate'"});
}

TEST_F(ScriptSessionTest, EntryPoints) {
  // A package as pip would have installed it.
  const std::string packages = scripts_.path("packages");
  std::filesystem::create_directories(packages + "/made_up-1.2.dist-info");
  std::ofstream(packages + "/made_up-1.2.dist-info/METADATA")
      << "Metadata-Version: 2.1\nName: made-up\nVersion: 1.2\n";
  std::ofstream(packages + "/made_up-1.2.dist-info/entry_points.txt")
      << "[assay.runners]\nmine = made_up:Mine\nbroken = made_up:helper\n";
  std::ofstream(packages + "/made_up.py") << R"(
class Mine:
    def __init__(self, path): pass
    inputs = outputs = {"x": ("float32", [1])}
    def infer(self, feed): return feed
def helper(): pass
)";
  ::setenv("PYTHONPATH", packages.c_str(), 1);
  const auto list = list_entry_point_runners(test_interpreter());
  const auto open_named = [&](const std::string& name) {
    return open_script_session({RunnerReference::Kind::kEntryPoint, name, ""}, packages + "/made_up.py",
                               {test_interpreter(), {}});
  };
  const auto mine = std::find_if(list.begin(), list.end(), [](const auto& r) { return r.name == "mine"; });
  ASSERT_NE(mine, list.end());
  EXPECT_EQ(mine->value, "made_up:Mine");
  EXPECT_EQ(mine->package, "made-up");
  EXPECT_EQ(mine->version, "1.2");
  EXPECT_EQ(run(*open_named("mine"), {Tensor::vector<float>({7})})[0].tensor.item<float>(), 7);
  expect_contains(error_of([&] { open_named("nope"); }), {"have no runner 'nope'", "'broken', 'mine'"});
  expect_contains(error_of([&] { open_named("broken"); }),
                  {"'broken' (made_up:helper) has no method infer()"});
  ::unsetenv("PYTHONPATH");
}

TEST_F(ScriptSessionTest, ShippedRunners) {
  expect_contains(error_of([] { shipped_runner("caffe"); }),
                  {"no runner 'caffe'", "'tensorflow', 'pytorch', 'tensorrt'"});
  // An interpreter without the package.
  std::ofstream(scripts_.path("python3")) << "#!/bin/sh\nexec '" << test_interpreter() << "' -S \"$@\"\n";
  std::filesystem::permissions(scripts_.path("python3"), std::filesystem::perms::owner_all);
  for (const ShippedRunner& shipped : shipped_runners()) {
    const RunnerReference reference = shipped_runner(shipped.name);
    const std::string reason = why_not(reference, {scripts_.path("python3"), {}});
    expect_contains(
        reason, {fmt::format("the runner '{}' needs the Python package {}", shipped.name, shipped.package),
                 std::string(shipped.variable)});
    expect_contains(
        error_of([&] {
          open_script_session(reference, scripts_.path("python3"), {scripts_.path("python3"), {}});
        }),
        {reason.substr(0, 40)});
  }
}

TEST(TemporaryModel, GoesWithItsObjectAndWithDeadProcesses) {
  const TemporaryFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  const auto model = parse_text(kModel, "model.onnxtxt");
  const std::string stale = folder / "assay-model-stale", fresh = folder / "assay-model-fresh";
  for (const std::string& f : {stale, fresh}) std::filesystem::create_directory(f);
  const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(stale, before);
  std::string path;
  {
    const TemporaryModel file(*model);
    path = file.path();
    EXPECT_TRUE(std::filesystem::exists(path));
    // One that is in use stays, however old.
    std::filesystem::last_write_time(std::filesystem::path(path).parent_path(), before);
    const TemporaryModel other(*model);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
  EXPECT_FALSE(std::filesystem::exists(stale));
  EXPECT_TRUE(std::filesystem::exists(fresh));
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace assay::script::session_test
