// Tests that --gen-script loses nothing of a command line, whatever its words contain.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/gen_script/cpp_literal.h"
#include "cli/options/extensions.h"
#include "cli/options/resources.h"
#include "cli/options/runners.h"
#include "cli/script_text.h"
#include "poly/run_table.h"

namespace assay::cli::run_script_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST(CppLiteral, StringsOfAnyBytes) {
  EXPECT_EQ(cpp_string("plain"), "\"plain\"");
  EXPECT_EQ(cpp_string("a \"b\" \\c ?\?="), "\"a \\\"b\\\" \\\\c \\?\\?=\"");
  EXPECT_EQ(cpp_string("line\nend\t"), "\"line\\012end\\011\"");
  EXPECT_EQ(cpp_string("\xc3\xb6"
                       "1"),
            "\"\\303\\2661\"")
      << "a digit behind an escape is not part of it";
  EXPECT_EQ(cpp_strings({"a", "b"}), "\"a\", \"b\"");
}

TEST(CppLiteral, Numbers) {
  EXPECT_EQ(cpp_number(Tolerance(1)), "1");
  EXPECT_EQ(cpp_number(Tolerance(1.0)), "1.0");
  EXPECT_EQ(cpp_number(Tolerance(1e-5)), "1e-05");
  EXPECT_EQ(cpp_double(1e16), "1e+16");
  EXPECT_EQ(cpp_double(-std::numeric_limits<double>::infinity()), "-std::numeric_limits<double>::infinity()");
  EXPECT_EQ(cpp_integer(std::numeric_limits<int64_t>::min()), "std::numeric_limits<std::int64_t>::min()");
  EXPECT_EQ(cpp_dims({Dim(1), Dim(), Dim::symbol("n")}), "{1, -1, Dim::symbol(\"n\")}");
}

TEST(ScriptComment, StaysInItsLine) {
  EXPECT_EQ(in_one_line("a\nb\rc"), "a b c");
  EXPECT_EQ(in_one_line("ends with a backslash\\"), "ends with a backslash\\ .");
  EXPECT_EQ(in_one_line("blanks do not help \\ \t"), "blanks do not help \\ .")
      << "compilers look through them";
  EXPECT_EQ(in_one_line("no UTF-8 \xff"), "no UTF-8 \\xff");
}

/// A folder with the files that samples need.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("assay-run-script-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
    write("m.onnxtxt",
          "<ir_version: 8, opset_import: [\"\" : 17]>\n"
          "g (float[1,4] x) => (float[1,4] y) { y = Relu (x) }\n");
    for (const char* name : {"s.py", "m.plan", "r.py", "m.pb"}) write(name, "");
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

  /// The program for a line of `run`, without the lines that show the command line itself.
  std::string program(const Words& words, const std::string& ending = ".cpp") const {
    Words line = {"assay", "run"};
    for (const std::string& word : words) line.push_back(word.starts_with("@") ? path(word.substr(1)) : word);
    const std::string file = path("out" + ending);
    fs::remove(file);
    line.insert(line.end(), {"--gen-script", file});
    const log::Capture capture;
    const int status = run_command_line(line);
    EXPECT_EQ(status, 0) << capture.err() << capture.out();
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    std::string all = text.str();
    if (const size_t made = all.find("Made by:"); made != std::string::npos)
      all.erase(made, all.find('\n', made) - made);
    return all;
  }
  void touch(const std::string& name) const { write(name, ""); }
  std::string error(Words words) const {
    words.insert(words.begin(), {"assay", "run"});
    const log::Capture capture;
    EXPECT_EQ(run_command_line(words), 1) << capture.out();
    return capture.err();
  }

 private:
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  fs::path path_;
};

/// An option with its words, and further words that the line needs (`@` is the folder).
struct Sample {
  Words given, rest = {"@m.onnxtxt", "--ref"};
};

const std::vector<Sample>& samples() {
  static const Words kBuilt = {"@m.onnxtxt", "--trt"};
  static const Words kNothing = {"--load-outputs", "r.json"};
  static const std::vector<Sample> kSamples = {
      {{"-v"}},
      {{"-q"}},
      {{"--verbosity", "WARNING", "run:INFO"}},
      {{"--silent"}},
      {{"--log-format", "timestamp", "line-info", "no-colors"}},
      {{"--log-file", "@log.txt"}},
      {{"--memory-limit", "2G"}},
      {{"--trt"}},
      {{"--runner-script", "@r.py:Mine"}},
      {{"--runner-options", "a=b", "c=d"}, {"@m.onnxtxt", "--runner-script", "@r.py"}},
      {{"--tf"}},
      {{"--pytorch"}},
      {{"--tf-outputs", "a", "b"}, {"@m.onnxtxt", "--tf"}},
      {{"--save-pb", "p.pb"}, {"@m.onnxtxt", "--tf"}},
      {{"--ckpt", "c"}, {"@m.onnxtxt", "--tf"}},
      {{"--pytorch-inputs", "{}"}, {"@m.onnxtxt", "--pytorch"}},
      {{"--threads", "3"}},
      {{"--ref-precision", "stored"}},
      {{"--providers", "cuda", "cpu"}},
      {{"--onnxrt-library", "lib.so"}},
      {{"--custom-ops", "a.so", "b.so"}},
      {{"--graph-optimization-level", "ORT_DISABLE_ALL"}},
      {{"@m.onnxtxt"}, kNothing},
      {{"--model-type", "frozen"}},
      {{"--input-shapes", "x:[2,-1]", "z:[n]"}},
      {{"--save-onnx", "s.onnx"}},
      {{"--save-external-data", "w.bin"}},
      {{"--external-data-size-threshold", "2K"}},
      {{"--no-save-all-tensors-to-one-file"}},
      {{"--shape-inference"}},
      {{"--external-data-dir", "d"}},
      {{"--ignore-external-data"}},
      {{"--onnx-outputs", "a", "b"}},
      {{"--onnx-outputs-by-type", "Relu"}},
      {{"--onnx-exclude-outputs", "y"}},
      {{"--fp-to-fp16"}},
      {{"--seed", "7"}},
      {{"--val-range", "[0,1]", "x:[0.5,2]"}},
      {{"--int-min", "-3"}},
      {{"--int-max", "3"}},
      {{"--float-min", "-0.5"}},
      {{"--float-max", "0.5"}},
      {{"--iterations", "5"}},
      {{"--load-inputs", "a.json", "b"}},
      {{"--data-loader-script", "@s.py"}},
      {{"--data-loader-func-name", "f"}, {"@m.onnxtxt", "--ref", "--data-loader-script", "@s.py"}},
      {{"--sequential-runners"}},
      {{"--warm-up", "2"}},
      {{"--use-subprocess"}},
      {{"--save-inputs", "i.json"}},
      {{"--save-outputs", "o"}},
      {{"--save-input-blob"}},
      {{"--postprocess", "top-2", "y:top-3,axis=0"}},
      {{"--postprocess-func-script", "@s.py:f"}},
      {{"--validate"}},
      {{"--fail-fast"}},
      {{"--compare", "l2", "simple"}},
      {{"--compare-func-script", "@s.py"}},
      {{"--no-shape-check"}},
      {{"--check-average"}, {"@m.onnxtxt", "--ref", "--compare", "l2"}},
      {{"--save-accuracy-results", "a.json"}},
      {{"--load-outputs", "g.json"}},
      {{"--arbiter"}},
      {{"--arbiter-samples", "5"}},
      {{"--save-verdict", "v.json"}},
      {{"--no-trace"}},
      {{"--no-excuse", "sums", "winograd"}},
      {{"--partial"}},
      {{"--rtol", "1e-3", "y:2"}},
      {{"--atol", "y:0.25"}},
      {{"--check-error-stat", "max", "y:mean"}},
      {{"--infinities-compare-equal"}},
      {{"--save-heatmaps", "h"}},
      {{"--save-error-metrics-plot", "p"}},
      {{"--error-quantile", "0.5"}},
      {{"--index-tolerance", "2"}, {"@m.onnxtxt", "--ref", "--compare", "indices"}},
      {{"--l2-threshold", "2"}, {"@m.onnxtxt", "--ref", "--compare", "l2"}},
      {{"--cosine-similarity-threshold", "0.5"}, {"@m.onnxtxt", "--ref", "--compare", "cosine_similarity"}},
      {{"--psnr-threshold", "y:50"}, {"@m.onnxtxt", "--ref", "--compare", "psnr"}},
      {{"--snr-threshold", "inf"}, {"@m.onnxtxt", "--ref", "--compare", "snr"}},
      {{"--lpips-threshold", "y:0.25"}, {"@m.onnxtxt", "--ref", "--compare", "perceptual_metrics"}},
      {{"--trt-min-shapes", "x:[1,4]"}, kBuilt},
      {{"--trt-opt-shapes", "x:[2,4]"}, kBuilt},
      {{"--trt-max-shapes", "x:[3,4]"}, kBuilt},
      {{"--fp16"}, kBuilt},
      {{"--bf16"}, kBuilt},
      {{"--int8"}, kBuilt},
      {{"--precision-constraints", "prefer"}, {"@m.onnxtxt", "--trt", "--layer-precisions", "a:fp16"}},
      {{"--layer-precisions", "a:fp32", "op:Relu:bf16"}, kBuilt},
      {{"--layer-output-types", "a:fp32+fp16"}, kBuilt},
      {{"--tensor-dtypes", "x:fp16"}, kBuilt},
      {{"--all-tensor-dtypes", "float16"}, kBuilt},
      {{"--calibration-cache", "c"}, {"@m.onnxtxt", "--trt", "--int8"}},
      {{"--calib-base-cls", "IInt8MinMaxCalibrator"}, {"@m.onnxtxt", "--trt", "--int8"}},
      {{"--quantile", "0.5"}, {"@m.onnxtxt", "--trt", "--int8"}},
      {{"--float-nodes", "a", "b"}, {"@m.onnxtxt", "--trt", "--int8"}},
      {{"--refittable"}, kBuilt},
      {{"--strip-plan"}, kBuilt},
      {{"--load-timing-cache", "t"}, kBuilt},
      {{"--save-timing-cache", "t"}, kBuilt},
      {{"--error-on-timing-cache-miss"}, kBuilt},
      {{"--save-tactics", "t.json"}, kBuilt},
      {{"--load-tactics", "t.json"}, kBuilt},
      {{"--pool-limit", "workspace:1M"}, kBuilt},
      {{"--workspace", "2M"}, kBuilt},
      {{"--builder-optimization-level", "1"}, kBuilt},
      {{"--disable-tactics", "gemv"}, kBuilt},
      {{"--pin-tactics", "a=gemv"}, kBuilt},
      {{"--disable-passes", "p"}, kBuilt},
      {{"--max-edits", "3"}, kBuilt},
      {{"--verify-passes"}, kBuilt},
      {{"--explain"}, kBuilt},
      {{"--trt-outputs", "*"}, kBuilt},
      {{"--trt-exclude-outputs", "y"}, kBuilt},
      {{"--trt-outputs-by-type", "CONVOLUTION"}, kBuilt},
      {{"--trt-network-func-name", "f"}, {"@s.py", "--model-type", "trt-network-script", "--trt"}},
      {{"--trt-config-script", "@s.py"}, kBuilt},
      {{"--trt-network-postprocess-script", "@s.py", "@s.py:f"}, kBuilt},
      {{"--trt-config-postprocess-script", "@s.py"}, kBuilt},
      {{"--trt-config-func-name", "f"}, {"@m.onnxtxt", "--trt", "--trt-config-script", "@s.py"}},
      {{"--save-engine", "e.plan"}, kBuilt},
      {{"--optimization-profile", "1"}, kBuilt},
  };
  return kSamples;
}

/// Options of `run`, with those that every command has.
std::vector<Option> all_options() {
  ArgParser parser("assay run", "");
  command_run::def.add_options(parser, Registries(), command_run::def);
  add_extension_options(parser);
  add_resource_options(parser);
  std::vector<Option> options;
  for (const OptionGroup* group : parser.groups())
    options.insert(options.end(), group->options.begin(), group->options.end());
  return options;
}

/// Options that act before the run begins, or have no effect in this build.
bool leaves_nothing(const Option& o) {
  // The command line's own reports, which are refused where a program is written, and its strictness.
  for (const char* own : {"--all", "--csv", "--json", "--junit", "--fail-if", "--shard", "--strict"})
    if (o.names.front() == own) return true;
  const poly::RunRow* row = poly::find_run_option(o.names.front());
  return row != nullptr ? !row->has_member() : o.help.starts_with("Accepted, without effect");
}

TEST(RunScript, EveryOptionHasARow) {
  const Registries registries;
  for (const Option& o : all_options()) {
    const auto backends = registries.backends.all();
    const bool is_backend = std::any_of(backends.begin(), backends.end(),
                                        [&](const Backend* b) { return flag_of(*b) == o.names.front(); });
    if (o.refusal.empty() && !is_backend && !leaves_nothing(o)) {
      EXPECT_NE(poly::find_run_option(o.names.front()), nullptr) << o.names.front();
    }
  }
}

TEST(RunScript, EveryOptionChangesTheProgram) {
  const Folder folder;
  std::set<std::string> shown = {"--extension"};  // a module is loaded for it: tests/gen_script
  for (const Sample& s : samples()) {
    Words with = s.given;
    with.insert(with.begin(), s.rest.begin(), s.rest.end());
    shown.insert(s.given.front() == "@m.onnxtxt" ? "model_file" : s.given.front());
    EXPECT_NE(folder.program(with), folder.program(s.rest)) << s.given.front();
    // Python gets the words themselves.
    const std::string script = folder.program(with, ".py");
    for (const std::string& word : s.given)
      EXPECT_NE(script.find(word.starts_with("@") ? folder.path(word.substr(1)) : word), std::string::npos)
          << word;
  }
  // Options of a Python runner that has no flag.
  shown.insert("--strict-trt");
  for (const poly::RunGroup& group : poly::run_groups())
    for (const poly::RunRow& row : group.rows)
      if (row.has_option()) {
        EXPECT_EQ(shown.contains(row.option.names.front()), row.has_member())
            << row.option.names.front()
            << (row.has_member() ? ": no sample" : ": a sample, but nothing is set");
      }
}

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(RunScript, EveryOptionSurvivesASettingsFile) {
  const Folder folder;
  // Files that samples name must exist when settings are used.
  for (const char* name : {"a.json", "b", "g.json", "r.json", "t.json"}) folder.touch(name);
  const std::string first = folder.path("first.json"), second = folder.path("second.json");
  for (const Sample& s : samples()) {
    Words with = s.rest;
    with.insert(with.end(), s.given.begin(), s.given.end());
    for (std::string& word : with)
      if (word.ends_with(".json") || word == "b")
        word = "@" + word;
      else if (word == "d")
        word = "@.";
    with.insert(with.end(), {"--save-settings", first});
    const std::string program = folder.program(with);
    EXPECT_EQ(folder.program({"--settings", first, "--save-settings", second}), program) << s.given.front();
    EXPECT_EQ(text_of(second), text_of(first)) << s.given.front();
    EXPECT_GT(text_of(first).size(), 20U) << s.given.front();
  }
}

TEST(RunScript, TheLineReplacesWhatTheSettingsSayOfTheSame) {
  const Folder folder;
  const std::string file = folder.path("settings.json");
  const auto same = [&](const Words& saved, const Words& then, const Words& both) {
    Words line = saved;
    line.insert(line.end(), {"--save-settings", file});
    folder.program(line);
    line = {"--settings", file};
    line.insert(line.end(), then.begin(), then.end());
    EXPECT_EQ(folder.program(line), folder.program(both)) << then.front();
  };
  const Words kBase = {"@m.onnxtxt", "--ref", "--engine"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), kBase.begin(), kBase.end());
    return more;
  };
  same(with({"--seed", "3"}), {"--seed", "4"}, with({"--seed", "4"}));
  same(with({"--seed", "3"}), {"--iterations", "2"}, with({"--seed", "3", "--iterations", "2"}));
  same(with({"--atol", "1", "y:2"}), {"--rtol", "3"}, with({"--atol", "1", "y:2", "--rtol", "3"}));
  same(with({"--compare", "simple", "l2"}), {"--compare", "psnr"}, with({"--compare", "psnr"}));
  same(with({"--verbosity", "WARNING"}), {"-v"}, with({"-v"}));
  same(with({"--trt", "--fp16"}), {"--onnxrt", "--trt"}, {"@m.onnxtxt", "--onnxrt", "--trt", "--fp16"});
  same(with({"--trt", "--trt-min-shapes", "x:[1,4]", "--trt-max-shapes", "x:[9,4]"}),
       {"--trt-opt-shapes", "x:[2,4]"}, with({"--trt", "--trt-opt-shapes", "x:[2,4]"}));
  same(with({"--no-trace"}), {"@m.onnxtxt", "--arbiter-samples", "5"},
       with({"--no-trace", "--arbiter-samples", "5"}));
}

TEST(RunScript, SettingsThatCannotBeUsed) {
  const Folder folder;
  const auto error = [&](const std::string& members, const Words& more = {}) {
    const std::string file = folder.path("bad.json");
    std::ofstream(file) << "{\"version\": 1, \"settings\": {" << members << "}}";
    Words line = {"--settings", file};
    for (const std::string& word : more)
      line.push_back(word.starts_with("@") ? folder.path(word.substr(1)) : word);
    const std::string text = folder.error(line);
    EXPECT_NE(text.find("bad.json"), std::string::npos) << text;
    EXPECT_EQ(text.find("\n"), text.size() - 1) << "one line: " << text;
    return text;
  };
  EXPECT_NE(error("\"data.sead\": 1").find("Did you mean 'data.seed'"), std::string::npos);
  EXPECT_NE(error("\"model.path\": \"gone.onnx\"").find("'model.path' names gone.onnx"), std::string::npos);
  EXPECT_NE(error("\"load_outputs\": [\"gone.json\"]").find("give --load-outputs on the command line"),
            std::string::npos);
  EXPECT_NE(error("\"data.script\": \"gone.py:f\"").find("'data.script' names gone.py:f"), std::string::npos);
  EXPECT_NE(error("\"runners\": [{\"backend\": \"abacus\"}]").find("abacus"), std::string::npos);
  EXPECT_NE(error("\"engine.save_tactics\": \"a\"", {"@m.onnxtxt", "--trt", "--load-tactics", "@r.py"})
                .find("not allowed with argument"),
            std::string::npos);
  EXPECT_NE(error("\"extensions.modules\": [\"gone.so\"]").find("names gone.so, which is not there"),
            std::string::npos);
  EXPECT_NE(error("\"log\": {\"verbosity\": [\"LOUD\"]}", {"@m.onnxtxt", "--ref"}).find("'LOUD'"),
            std::string::npos);
  // Two functions of one kind cannot be expressed on, nor changed by, a command line.
  const std::string two =
      "\"compare_funcs\": [{\"function\": \"l2\", \"threshold\": 1}, {\"function\": \"l2\"}]";
  EXPECT_NE(
      error(two, {"@m.onnxtxt", "--ref", "--l2-threshold", "2"}).find("--l2-threshold cannot change it"),
      std::string::npos);
}

TEST(RunScript, ErrorsInValuesNameTheSettings) {
  const Folder folder;
  const std::string file = folder.path("values.json");
  const auto error = [&](const std::string& member) {
    std::ofstream(file) << "{\"version\": 1, \"settings\": {" << member << "}}";
    return folder.error({"--settings", file, folder.path("m.onnxtxt"), "--trt"});
  };
  for (const auto& [member, name] :
       {std::pair("\"session.threads\": -4", "'session.threads'"),
        {"\"engine.config.disabled_tactics\": [\"gemw\"]", "'engine.config.disabled_tactics'"},
        {"\"engine.calibration_quantile\": 0.5", "'engine.calibration_quantile'"},
        {"\"engine.config.max_edits\": -1", "'engine.config.max_edits'"}}) {
    const std::string text = error(member);
    EXPECT_NE(text.find(name), std::string::npos) << text;
    EXPECT_NE(text.find("values.json"), std::string::npos) << text;
    EXPECT_NE(text.find("Correct the settings"), std::string::npos) << text;
  }
}

TEST(RunScript, SettingsThatNoLineCanSayAreKept) {
  const Folder folder;
  const std::string file = folder.path("settings.json");
  std::ofstream(file)
      << "{\"version\": 1, \"settings\": {\"model.path\": \"" << folder.path("m.onnxtxt")
      << "\", \"runners\": [{\"backend\": \"engine\"}, {\"backend\": \"reference\"}], "
         "\"session.optimize\": false, \"model.exclude_outputs\": [], \"verdict.samples\": 4, "
         "\"compare_funcs\": [{\"function\": \"l2\", \"threshold\": 1}, {\"function\": "
         "\"l2\"}]}}";
  const std::string text = folder.program({"--settings", file, "--seed", "4"});
  for (const char* part : {"run.session.optimize = false;", "run.verdict.samples = 4;", "run.data.seed = 4;",
                           "run.model.exclude_outputs = std::vector<std::string>{};", "CompareFunc::l2(1),",
                           "CompareFunc::l2(),"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
}

TEST(RunScript, BackendsAreRunners) {
  const Folder folder;
  const std::string text = folder.program({"@m.onnxtxt", "--engine", "--onnxrt", "--ref"});
  for (const char* backend : {"engine", "onnxrt", "reference"})
    EXPECT_NE(text.find(std::string("run.runners.push_back({.backend = \"") + backend + "\"});"),
              std::string::npos)
        << text;
}

TEST(RunScript, PythonQuotesWords) {
  const Folder folder;
  const std::string text =
      folder.program({"@m.onnxtxt", "--ref", "--save-outputs", "a \"b\" 'c' \\d \n \xc3\xb6 \xff\x80.json",
                      "--save-verdict=-v.json"},
                     ".py");
  EXPECT_NE(text.find("[\"--save-outputs\", \"a \\\"b\\\" 'c' \\\\d \\n \xc3\xb6 \\udcff\\udc80.json\"]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("[\"--save-verdict=-v.json\"]"), std::string::npos) << text;
}

TEST(RunScript, AnEndingWithoutALanguageIsRefused) {
  const Folder folder;
  EXPECT_NE(folder.error({folder.path("m.onnxtxt"), "--ref", "--gen-script", "x.h"})
                .find("x.h does not say what to write"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::cli::run_script_test
