#include "script/native.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cmath>

#include "base/crash_report.h"
#include "base/log.h"
#include "script/compare_script.h"
#include "script/compiler.h"
#include "script/data_script.h"
#include "script/postprocess_script.h"
#include "script/script_test_util.h"

namespace assay::script::native_test {
namespace {

/// One file of every kind of function, compiled once for all tests.
constexpr const char* kScript = R"(
#include "assay/script.h"

#include <cstdlib>
)"
                                "#include \"helper.h\"\n"
                                R"(
using namespace assay_script;

std::optional<Tensors> load_data(int64_t iteration) {
  if (iteration == kIterations) return std::nullopt;
  return Tensors{Tensor::of<float>("x", {1, 2}, {float(iteration), 2}), Tensor::of<std::string>("s", {2}, {"a", "Grüße"}),
                 Tensor::of<bool>("b", {3}, {true, false, true}), Tensor::of<int64_t>("none", {0}, {})};
}
std::optional<Tensors> throwing(int64_t) { throw std::runtime_error("no picture"); }
std::optional<Tensors> twice(int64_t) { return Tensors(2, Tensor::of<float>("x", {1}, {1})); }
std::optional<Tensors> short_values(int64_t) { return Tensors{Tensor::of<float>("x", {3}, {1})}; }
std::optional<Tensors> bad_type(int64_t) { Tensor t = Tensor::of<float>("x", {1}, {1}); t.dtype = 77; return Tensors{t}; }
std::optional<Tensors> bad_shape(int64_t) { Tensor t = Tensor::of<float>("x", {1}, {1}); t.dims[0] = -1; return Tensors{t}; }
std::optional<Tensors> crashing(int64_t) { std::abort(); }

Tensors postprocess_outputs(const Result& result) {
  Tensors out = result.outputs;
  for (size_t i = 0; i < out[0].numel(); ++i) out[0].data<float>()[i] *= 2;
  out.push_back(Tensor::of<double>("runtime", {}, {result.runtime.value_or(-1)}));
  return out;
}
Verdicts compare_outputs(const Result& a, const Result& b) {
  const double error = std::abs(a.at("y").data<float>()[0] - b.at("y").data<float>()[0]);
  return {{"y", error < 0.1, {{"max_absdiff", error}}}, {a.runner_name + b.runner_name, true}};
}
static int32_t strange(assay_script_host* host, int64_t) { return host->abi == ASSAY_SCRIPT_ABI ? 42 : 0; }
static assay_script_function strange_function() { assay_script_function f{ASSAY_SCRIPT_DATA, "strange", {}}; f.call.data = strange; return f; }

ASSAY_SCRIPT(ASSAY_DATA(load_data), ASSAY_DATA(throwing), ASSAY_DATA(twice), ASSAY_DATA(short_values), ASSAY_DATA(bad_type),
             ASSAY_DATA(bad_shape), ASSAY_DATA(crashing), ASSAY_POSTPROCESS(postprocess_outputs), ASSAY_COMPARE(compare_outputs),
             strange_function());
)";

/// Leaves an equal file unchanged, so that its compiled form stays valid.
void write(const std::string& path, const std::string& text) {
  std::ifstream before(path);
  if (before && std::string(std::istreambuf_iterator<char>(before), {}) == text) return;
  const std::string draft = path + "." + std::to_string(::getpid());
  std::ofstream(draft) << text;
  std::filesystem::rename(draft, path);
}

class NativeScriptTest : public testing::Test {
 protected:
  NativeScriptTest() {
    ::setenv("CXXFLAGS", "-O0", 1);
    // Tests run in separate processes; the large script is compiled in the first one.
    const std::string folder = ASSAY_BINARY_FOLDER "/script_cases";
    std::filesystem::create_directories(folder);
    ::setenv("XDG_CACHE_HOME", (folder + "/cache").c_str(), 1);
    write(folder + "/helper.h", "constexpr int kIterations = 3;\n");
    write(file = folder + "/script.cpp", kScript);
  }
  ~NativeScriptTest() override {
    for (const char* name : {"XDG_CACHE_HOME", "CXXFLAGS"}) ::unsetenv(name);
  }

  Reference function(const std::string& name) { return parse_reference(file + ":" + name, ""); }
  std::string failure_of_data(const std::string& name) {
    return error_of([&] { DataScript(function(name)).next(); });
  }
  /// A script of one function f, which gives `count` empty feeds.
  Reference small(const std::string& name, const std::string& count) {
    return scripts.add(name,
                       "#include \"assay/script.h\"\n#include \"count.h\"\n"
                       R"(
std::optional<assay_script::Tensors> f(int64_t i) { return i < )" +
                           count + R"( ? std::optional(assay_script::Tensors()) : std::nullopt; }
ASSAY_SCRIPT(ASSAY_DATA(f));
)",
                       "f");
  }
  static int count(DataScript script) {
    int n = 0;
    while (script.next()) ++n;
    return n;
  }

  Scripts scripts;
  std::string file;
};

TEST_F(NativeScriptTest, Data) {
  DataScript script(function("load_data"));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      const auto feed = script.next();
      ASSERT_TRUE(feed);
      ASSERT_EQ(feed->size(), 4U);
      EXPECT_TRUE(feed->at(0).tensor.identical(Tensor::from<float>({1, 2}, {static_cast<float>(i), 2})));
      EXPECT_TRUE(feed->at(1).tensor.identical(Tensor::vector<std::string>({"a", "Grüße"})));
      EXPECT_TRUE(feed->at(2).tensor.identical(Tensor::vector<bool>({true, false, true})));
      EXPECT_EQ(feed->at(3).tensor.shape(), Shape{0});
    }
    EXPECT_FALSE(script.next());
    script.restart();
  }
  expect_contains(script.place(), {"in function 'load_data' in ", "script.cpp"});
}

TEST_F(NativeScriptTest, Postprocess) {
  PostprocessScript script(function("postprocess_outputs"));
  const TensorList out = script.process(
      {"runner", 0.5, {{"y", Tensor::vector<float>({1, 2})}, {"s", Tensor::vector<std::string>({"a"})}}});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_TRUE(out[0].tensor.identical(Tensor::vector<float>({2, 4})));
  EXPECT_TRUE(out[1].tensor.identical(Tensor::vector<std::string>({"a"})));
  EXPECT_TRUE(out[2].tensor.identical(Tensor::scalar<double>(0.5)));
  expect_contains(error_of([&] {
                    script.process({"runner", {}, {{"y", Tensor::vector<int64_t>({1})}}});
                  }),
                  {"tensor 'y' has the ONNX type 7, not 1", "in function 'postprocess_outputs'"});
}

TEST_F(NativeScriptTest, Compare) {
  CompareScript script(function("compare_outputs"));
  const auto compare = [&](float a, float b) {
    return script.compare({"p", {}, {{"y", Tensor::vector<float>({a})}}},
                          {"q", {}, {{"y", Tensor::vector<float>({b})}}});
  };
  const auto verdicts = compare(1, 1.5);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_FALSE(verdicts[0].passed);
  EXPECT_EQ(verdicts[0].figures, (std::vector<std::pair<std::string, double>>{{"max_absdiff", 0.5}}));
  EXPECT_EQ(verdicts[1].output, "pq");
  EXPECT_TRUE(compare(1, 1)[0].passed);
  expect_contains(error_of([&] {
                    script.compare({"p", {}, {}}, {"q", {}, {}});
                  }),
                  {"runner 'p' has no output 'y'"});
}

TEST_F(NativeScriptTest, Errors) {
  expect_contains(failure_of_data("throwing"), {"no picture", "in function 'throwing' in ", "script.cpp"});
  expect_contains(failure_of_data("twice"), {"gave the tensor 'x' twice"});
  expect_contains(failure_of_data("short_values"), {"tensor 'x': 1 values for a shape of 3 elements"});
  expect_contains(failure_of_data("bad_type"), {"tensor 'x' that is none", "type 77"});
  expect_contains(failure_of_data("bad_shape"), {"tensor 'x' that is none", "-1"});
  expect_contains(failure_of_data("strange"), {"returned 42, which is no status"});
  expect_contains(failure_of_data("missing"),
                  {"has no function 'missing'", "'load_data' (data)", "'compare_outputs' (compare)"});
  expect_contains(failure_of_data("compare_outputs"),
                  {"is a compare function, and a data function is needed"});
}

TEST_F(NativeScriptTest, ACrashNamesTheScript) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  log::flush();
  DataScript compiled(function("load_data"));
  compiled.next();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    report_crashes();
    DataScript(function("crashing")).next();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char piece[256];
  for (ssize_t n = 0; (n = ::read(ends[0], piece, sizeof piece)) > 0;)
    said.append(piece, static_cast<size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  expect_contains(said, {"script.cpp, in its function 'crashing',", "crashed"});
}

TEST_F(NativeScriptTest, WhatIsThrownWhileItIsLoadedIsItsError) {
  const Reference script = scripts.add("throws.cpp", R"(
#include "assay/script.h"
#include <stdexcept>
struct Device { Device() { throw std::runtime_error("no device"); } };
static Device device;
std::optional<assay_script::Tensors> f(int64_t) { return std::nullopt; }
ASSAY_SCRIPT(ASSAY_DATA(f));
)",
                                       "f");
  expect_contains(error_of([&] { DataScript(script).next(); }),
                  {"throws.cpp cannot be loaded", "it threw an exception while it was loaded: no device"});
}

TEST_F(NativeScriptTest, ExitIsNoSuccess) {
  const auto exiting = [&](const std::string& name, const std::string& global, const std::string& body) {
    return scripts.add(name,
                       "#include \"assay/script.h\"\n#include <cstdlib>\n" + global +
                           "std::optional<assay_script::Tensors> f(int64_t) { " + body +
                           " return std::nullopt; }\nASSAY_SCRIPT(ASSAY_DATA(f));\n",
                       "f");
  };
  const auto end = [&](const Reference& script) {
    report_crashes();
    DataScript(script).next();
    ::_exit(0);
  };
  const Reference function = exiting("exits.cpp", "", "std::exit(0);");
  EXPECT_EXIT(end(function), testing::ExitedWithCode(1),
              "exits.cpp, in its function 'f', ended the program by exit");
  const Reference global =
      exiting("global.cpp", "static const bool gone = (std::exit(0), true);\n", "(void)gone;");
  EXPECT_EXIT(end(global), testing::ExitedWithCode(1),
              "global.cpp, while it was loaded, ended the program by exit");
}

TEST_F(NativeScriptTest, CompiledOncePerContent) {
  const std::string cache = scripts.path("cache");
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  const auto kept = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cache + "/assay/scripts"))
      count += entry.path().extension() == ".so" ? 1 : 0;
    return count;
  };
  std::ofstream(scripts.path("count.h")) << "constexpr int kCount = 3;\n";
  const Reference script = small("script.cpp", "kCount");
  EXPECT_EQ(count(DataScript(script)), 3);
  const std::string first = compile_script(script.path).library;
  EXPECT_EQ(compile_script(script.path).library, first);
  EXPECT_EQ(kept(), 1);
  // A quoted header is part of the content.
  std::ofstream(scripts.path("count.h")) << "constexpr int kCount = 1;\n";
  EXPECT_EQ(count(DataScript(script)), 1);
  EXPECT_EQ(kept(), 2);
}

TEST_F(NativeScriptTest, CompileErrors) {
  const Reference broken =
      scripts.add("broken.cpp", "#include \"assay/script.h\"\nint f() { return wrong_name; }\n", "load_data");
  expect_contains(error_of([&] { DataScript(broken).next(); }),
                  {"broken.cpp does not compile", "wrong_name", "broken.cpp:2"});
  ::setenv("CXX", "/nowhere/c++", 1);
  expect_contains(error_of([&] { DataScript(broken).next(); }), {"CXX names '/nowhere/c++'"});
  ::unsetenv("CXX");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  expect_contains(error_of([&] { DataScript(broken).next(); }), {"no c++, g++ or clang++ on PATH", ".so"});
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(NativeScriptTest, LibrariesThatAreNoScripts) {
  const auto compiled = [&](const std::string& name, const std::string& text) {
    std::ofstream(scripts.path(name + ".c")) << text;
    const std::string command = "cc -shared -fPIC -I" ASSAY_SOURCE_FOLDER "/include -o " +
                                scripts.path(name + ".so") + " " + scripts.path(name + ".c");
    EXPECT_EQ(std::system(command.c_str()), 0);
    return parse_reference(scripts.path(name + ".so"), "load_data");
  };
  const Reference empty = compiled("empty", "int x;\n");
  expect_contains(error_of([&] { DataScript(empty).next(); }),
                  {"empty.so is no script", "assay_script_functions", "ASSAY_SCRIPT("});
  const std::string head = R"(#include "assay/script.h"
static float value = 5;
static int32_t load_data(assay_script_host* host, int64_t iteration) {
  const int64_t dims[] = {1};
  const assay_script_tensor x = {"x", 1, 1, dims, iteration == 2 ? NULL : &value};
  if (iteration == 1) { host->error(host, "no more"); return ASSAY_SCRIPT_ERROR; }
  host->emit(host, &x);
  return ASSAY_SCRIPT_OK;
}
static const assay_script_function list[] = {{ASSAY_SCRIPT_DATA, "load_data", {.data = load_data}}};
)";
  const Reference newer =
      compiled("newer", head + "const assay_script_table assay_script_functions = {99, 1, list};\n");
  expect_contains(error_of([&] { DataScript(newer).next(); }),
                  {"for version 99 of the script interface, and this is version 1"});
  // And one in C that is a script.
  DataScript good(compiled(
      "good", head + "const assay_script_table assay_script_functions = {ASSAY_SCRIPT_ABI, 1, list};\n"));
  EXPECT_EQ(good.next()->at(0).tensor.data<float>()[0], 5);
  for (const auto& [name, table] : {std::pair("null_list", "{ASSAY_SCRIPT_ABI, 1, NULL}"),
                                    std::pair("null_name", "{ASSAY_SCRIPT_ABI, 1, nameless}"),
                                    std::pair("null_function", "{ASSAY_SCRIPT_ABI, 1, empty}")}) {
    const Reference wrong = compiled(name, head +
                                               "static const assay_script_function nameless[] = "
                                               "{{ASSAY_SCRIPT_DATA, NULL, {.data = load_data}}};\n"
                                               "static const assay_script_function empty[] = "
                                               "{{ASSAY_SCRIPT_DATA, \"load_data\", {.data = NULL}}};\n"
                                               "const assay_script_table assay_script_functions = " +
                                               table + ";\n");
    expect_contains(error_of([&] { DataScript(wrong).next(); }),
                    {"function 0 of the script", "is null, or has no name"});
  }
  const Reference unknown =
      compiled("unknown",
               head +
                   "static const assay_script_function odd[] = {{77, \"load_data\", {.data = load_data}}};\n"
                   "const assay_script_table assay_script_functions = {ASSAY_SCRIPT_ABI, 1, odd};\n");
  expect_contains(error_of([&] { DataScript(unknown).next(); }),
                  {"is an unknown function, and a data function is needed"});
  const Reference text = scripts.add("text.so", "no library", "load_data");
  expect_contains(error_of([&] { DataScript(text).next(); }), {"text.so cannot be loaded"});
}

TEST_F(NativeScriptTest, WithoutACacheItIsTemporary) {
  std::ofstream(scripts.path("count.h")) << "";
  const Reference script = small("small.cpp", "2");
  // A world-writable folder must not be used for code.
  const std::string cache = scripts.path("open");
  std::filesystem::create_directories(cache + "/assay/scripts");
  ::chmod((cache + "/assay/scripts").c_str(), 0777);
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  {
    const log::Capture capture;
    EXPECT_EQ(count(DataScript(script)), 2);
    expect_contains(capture.out(), {"[W] The compiled script", "small.cpp is not kept: others may write to"});
  }
  EXPECT_TRUE(std::filesystem::is_empty(cache + "/assay/scripts"));
  // A path where no folder can be created, even by the superuser.
  ::setenv("XDG_CACHE_HOME", "/proc/self", 1);
  {
    const log::Capture capture;
    EXPECT_EQ(count(DataScript(script)), 2);
    expect_contains(capture.out(), {"is not kept: cannot make /proc/self/assay/scripts"});
  }
}

TEST_F(NativeScriptTest, TwoProcessesAtOnce) {
  ::setenv("XDG_CACHE_HOME", scripts.path("cache").c_str(), 1);
  std::ofstream(scripts.path("count.h")) << "";
  const Reference r = small("both.cpp", "2");
  log::flush();
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(error_of([&] { count(DataScript(r)); }) == "no error" ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace assay::script::native_test
