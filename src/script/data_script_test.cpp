#include "script/data_script.h"

#include <chrono>

#include "base/log.h"
#include "script/script_test_util.h"

namespace assay::script::data_script_test {
namespace {

class DataScriptTest : public testing::Test {
 protected:
  void SetUp() override { ASSAY_NEEDS_PYTHON(); }

  DataScript open(const std::string& text, const std::string& function = "load_data") {
    return DataScript(scripts_.add("data.py", with_numpy(text), function), test_interpreter());
  }
  /// The error of a script's first iteration, or of opening it.
  std::string failure(const std::string& text, const std::string& function = "load_data") {
    return error_of([&] {
      DataScript script = open(text, function);
      while (script.next()) {
      }
    });
  }

  Scripts scripts_;
};

std::vector<float> first_values(DataScript& script) {
  std::vector<float> out;
  while (const auto feed = script.next()) out.push_back(feed->at(0).tensor.data<float>()[0]);
  return out;
}

TEST_F(DataScriptTest, GeneratorFunction) {
  DataScript script = open(R"(
def load_data():
    for i in range(3):
        yield {"b": np.full((2, 3), i, np.float32), "a": np.array([i, -i])}
)");
  for (int i = 0; i < 3; ++i) {
    const auto feed = script.next();
    ASSERT_TRUE(feed);
    ASSERT_EQ(feed->size(), 2U);
    EXPECT_EQ(feed->at(0).name, "b");
    EXPECT_TRUE(feed->at(0).tensor.identical(
        Tensor::from<float>({2, 3}, std::vector<float>(6, static_cast<float>(i)))));
    EXPECT_TRUE(feed->at(1).tensor.identical(Tensor::vector<int64_t>({i, -i})));
    expect_contains(script.place(), {"at line 5 of function 'load_data' in ", "data.py"});
  }
  EXPECT_FALSE(script.next());
  EXPECT_FALSE(script.next());
  script.restart();
  EXPECT_EQ(first_values(script), (std::vector<float>{0, 1, 2}));
}

TEST_F(DataScriptTest, WhatElseGivesFeeds) {
  const std::string feeds = "[{'x': np.float32([i])} for i in (1, 2)]";
  const std::vector<float> expected = {1, 2};
  for (const std::string& text : {
           "def load_data():\n    return " + feeds,
           "load_data = " + feeds,
           "class load_data:\n    def __iter__(self):\n        return iter(" + feeds + ")",
           "class load_data:\n    def __call__(self):\n        return " + feeds,
           "class L:\n    def __len__(self): return 2\n    def __getitem__(self, i): return " + feeds +
               "[i]\nload_data = L()",
       }) {
    SCOPED_TRACE(text);
    DataScript script = open(text);
    EXPECT_EQ(first_values(script), expected);
  }
}

TEST_F(DataScriptTest, RunsOnlyAsFarAsItIsAsked) {
  const std::string mark = scripts_.path("mark");
  DataScript script = open("open('" + mark + R"(', 'a').write('imported ')
def load_data():
    for i in range(3):
        open(')" + mark + R"(', 'a').write(f'{i} ')
        yield {"x": np.float32([i])}
)");
  const auto marks = [&] {
    std::ifstream file(mark);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(marks(), "");
  script.next();
  EXPECT_EQ(marks(), "imported 0 ");
  script.next();
  EXPECT_EQ(marks(), "imported 0 1 ");
}

TEST_F(DataScriptTest, PrintingHarmsNothing) {
  testing::internal::CaptureStderr();
  {
    DataScript script = open(R"(
import os, subprocess, sys
def load_data():
    print("to stdout")
    os.write(1, b"to descriptor 1\n")
    print("to stderr", file=sys.stderr)
    subprocess.run(["echo", "from another program"])
    yield {"x": np.float32([1])}
)");
    EXPECT_EQ(first_values(script), std::vector<float>{1});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "to stdout\nto descriptor 1\nto stderr\nfrom another program\n");
}

TEST_F(DataScriptTest, ModulesBesideTheScript) {
  std::ofstream(scripts_.path("helper.py")) << "value = 7\n";
  DataScript script =
      open("def load_data():\n    import helper\n    yield {'x': np.float32([helper.value])}");
  EXPECT_EQ(first_values(script), std::vector<float>{7});
}

TEST_F(DataScriptTest, Exceptions) {
  expect_contains(
      failure("def helper():\n    raise ValueError('no picture')\ndef load_data():\n    yield helper()"),
      {"ValueError: no picture", "at line 3 of function 'helper'", "data.py"});
  // The script's own line, not that of the library that raised.
  expect_contains(failure("def load_data():\n    yield {'x': np.zeros(3).reshape(2, 2)}"),
                  {"ValueError: cannot reshape", "at line 3 of function 'load_data'", "data.py"});
  expect_contains(failure("def load_data(:\n  pass"), {"SyntaxError", "at line 2", "data.py"});
  expect_contains(failure("import no_such_module_"),
                  {"ModuleNotFoundError", "at line 2", "pip install no_such_module_"});
  expect_contains(failure("import sys\ndef load_data():\n    sys.exit(3)"),
                  {"sys.exit(3)", "at line 4 of function 'load_data'"});
  expect_contains(failure("def load_data(number):\n    pass"), {"TypeError", "load_data()", "data.py"});
  expect_contains(failure("def load_data():\n    yield {'x': np.float32([1])}\n    raise KeyError('later')"),
                  {"KeyError: 'later'", "at line 4"});
}

TEST_F(DataScriptTest, MissingFunction) {
  expect_contains(
      failure("def load_date(): pass\ndef _hidden(): pass\nclass Loader: pass"),
      {"has no function 'load_data'", "the functions 'load_date'", "the classes 'Loader'", "data.py"});
  expect_contains(failure("", "other"), {"has no function 'other'", "neither functions nor classes"});
}

TEST_F(DataScriptTest, WrongValues) {
  // A custom iterator continues after an error, which a generator cannot.
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"5", {"of load_data is an int", "dictionary", "data.py"}},
      {"None", {"is None", "dictionary"}},
      {"{5: np.zeros(2)}", {"has 5, an int, for a name"}},
      {"{'x': 5}", {"of load_data['x'] is an int", "NumPy array", "numpy.asarray"}},
      {"{'x': [np.zeros(2), 'y']}", {"of load_data['x'][1] is a str"}},
      {"{'x': np.zeros(2, np.longdouble)}", {"float128", "ONNX does not have", "astype"}},
      {"{'x': np.array(['2020-01-01'], 'datetime64')}", {"datetime64", "ONNX does not have"}},
      {"{'x': np.array([1, 'a', 2.5], dtype=object)}", {"array of objects with an int"}},
      {"{'x': {1: 2, 'a': 3}}", {"neither all strings nor all integers"}},
  };
  std::string text = "class load_data:\n    def __init__(self):\n        self.values = [";
  for (const auto& [value, parts] : cases) text += value + ", ";
  text +=
      "]\n    def __iter__(self):\n        return self\n    def __next__(self):\n        return "
      "self.values.pop(0)\n";
  DataScript script = open(text);
  for (const auto& [value, parts] : cases) {
    const std::string error = error_of([&] { script.next(); });
    for (const std::string& part : parts) expect_contains(error, {part});
  }
  expect_contains(failure("def load_data():\n    yield 5"),
                  {"iteration 0 of load_data", "at line 3 of function 'load_data'"});
}

TEST_F(DataScriptTest, WhatIsNoIterableOfFeeds) {
  expect_contains(failure("def load_data():\n    return {'x': np.zeros(2)}"),
                  {"single dictionary", "Yield it", "at line 2"});
  expect_contains(failure("def load_data():\n    pass"), {"load_data gave None", "iterable"});
  expect_contains(failure("load_data = 5"), {"load_data gave an int", "iterable"});
}

TEST_F(DataScriptTest, HowProcessesEnd) {
  expect_contains(
      failure("import os\ndef load_data():\n    os._exit(5)"),
      {"of the script", "data.py ended with exit status 5 while it ran its function 'load_data'"});
  expect_contains(failure("import os, signal\ndef load_data():\n    os.kill(os.getpid(), signal.SIGKILL)"),
                  {"was killed by signal 9 (Killed)", "too little memory"});
  // Python's crash report has the position.
  const std::string crash = failure("import ctypes\ndef load_data():\n    ctypes.string_at(0)");
  expect_contains(crash, {"was killed by signal 11 (Segmentation fault)", "data.py\", line 4 in load_data"});
}

TEST_F(DataScriptTest, AProcessThatHasEndedSaysSo) {
  DataScript script = open("import os\ndef load_data():\n    yield {'x': np.float32([1])}\n    os._exit(5)");
  EXPECT_TRUE(script.next());
  expect_contains(error_of([&] { script.next(); }), {"exit status 5"});
  expect_contains(error_of([&] { script.next(); }), {"has ended"});
}

TEST_F(DataScriptTest, AProcessThatOthersOutlive) {
  // A process that the script leaves behind also holds the ends of the pipes.
  const auto started = std::chrono::steady_clock::now();
  expect_contains(failure(R"(
import os, time
def load_data():
    yield {"x": np.float32([1])}
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
    os._exit(6)
)"),
                  {"exit status 6"});
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(15));
}

TEST_F(DataScriptTest, DyingInTheMiddleOfAnArray) {
  expect_contains(failure(R"(
import os, threading, time
def load_data():
    def end():
        time.sleep(0.3)
        os._exit(7)
    threading.Thread(target=end).start()
    while True:
        yield {"x": np.zeros(1 << 24, np.float32)}
)"),
                  {"exit status 7"});
}

TEST_F(DataScriptTest, NoNumPy) {
  std::ofstream(scripts_.path("numpy.py")) << "raise ImportError('broken')\n";
  DataScript script(scripts_.add("data.py", "def load_data():\n    yield {'x': 1}\n", "load_data"),
                    test_interpreter());
  expect_contains(error_of([&] { script.next(); }), {"has no NumPy: broken", "pip install numpy"});
}

TEST_F(DataScriptTest, NoInterpreter) {
  DataScript script(scripts_.add("data.py", "", "load_data"), "/nowhere/python3");
  expect_contains(error_of([&] { script.next(); }), {"/nowhere/python3", "neither a Python interpreter"});
  std::ofstream(scripts_.path("false")) << "#!/bin/false\n";
  std::filesystem::permissions(scripts_.path("false"), std::filesystem::perms::owner_all);
  DataScript other(scripts_.add("data.py", "", "load_data"), scripts_.path("false"));
  expect_contains(error_of([&] { other.next(); }), {"ended with exit status 1"});
}

}  // namespace
}  // namespace assay::script::data_script_test
