// Settings files: every member round-trips,
// and errors name the file and the member.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "assay/error.h"
#include "assay/run.h"
#include "poly/compare_description.h"
#include "poly/run_json.h"
#include "poly/run_table.h"

namespace assay::poly::run_settings_test {
namespace {

namespace fs = std::filesystem;

class SettingsFiles : public testing::Test {
 protected:
  SettingsFiles() : folder_(fs::temp_directory_path() / ("assay-settings-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    std::ofstream(path("s.py")) << "def f(): pass\n";
  }
  ~SettingsFiles() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string saved(const RunSettings& settings) { return run_settings_text(settings); }
  static RunSettings loaded(const std::string& text) { return parse_run_settings(text, "given.json"); }
  /// The error's message; empty when there is none.
  std::string error_of(const std::string& text) const {
    try {
      loaded(text);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  }
  /// Of a file with these members.
  std::string error_of_members(const std::string& members) const {
    return error_of("{\"version\": 1, \"settings\": {" + members + "}}");
  }

  fs::path folder_;
};

/// Values that differ from the default, and from each other by `salt`.
class Values {
 public:
  explicit Values(uint32_t salt, std::string script) : random_(salt), script_(std::move(script)) {}

  void operator()(bool* v) { *v = !*v; }
  void operator()(int* v) { *v += 1 + below(100); }
  void operator()(int64_t* v) { *v = below(1 << 20) + (int64_t{1} << 40); }
  void operator()(size_t* v) { *v = 1 + static_cast<size_t>(below(9)); }
  void operator()(double* v) { *v = 1.0 / (2 + below(1000)); }
  void operator()(std::string* v) { *v = text(); }
  void operator()(std::vector<std::string>* v) { *v = texts(); }
  void operator()(std::optional<std::string>* v) { *v = below(3) == 0 ? std::string() : text(); }
  void operator()(std::optional<int64_t>* v) { *v = below(1000); }
  void operator()(std::optional<int>* v) { *v = below(100) - 50; }
  void operator()(std::optional<std::vector<std::string>>* v) {
    *v = below(4) == 0 ? std::vector<std::string>() : texts();
  }
  void operator()(std::optional<RunLog>* v) {
    *v = RunLog{.verbosity = texts(), .timestamp = below(2) == 0, .colors = below(2) == 0, .file = text()};
  }
  void operator()(std::vector<RunRunner>* v) {
    for (int i = below(3); i >= 0; --i)
      v->push_back(below(2) == 0 ? RunRunner{.backend = text()}
                                 : RunRunner{.script = text(), .options = {{text(), text()}, {"b", ""}}});
  }
  void operator()(RunShapes* v) { *v = shapes(); }
  void operator()(std::vector<std::pair<std::string, RunRange>>* v) {
    *v = {{"", {.low = 1}}, {text(), {.low = number(), .high = number()}}};
  }
  void operator()(std::optional<RunRange>* v) { *v = RunRange{.high = number()}; }
  void operator()(std::vector<RunProfile>* v) {
    *v = {{.min = shapes(), .opt = shapes(), .max = shapes()}, {.opt = shapes()}};
  }
  void operator()(std::vector<std::pair<std::string, DType>>* v) {
    *v = {{text(), DType::kFloat16}, {"*", DType::kInt8}};
  }
  void operator()(std::vector<LayerTypes>* v) {
    *v = {{.layers = text(), .precision = DType::kBFloat16},
          {.layers = "b", .outputs = {DType::kUndefined, DType::kFloat32}}};
  }
  void operator()(std::map<std::string, std::string>* v) { *v = {{text(), text()}, {"n", "gemv"}}; }
  void operator()(std::vector<std::pair<std::string, std::vector<std::string>>>* v) {
    *v = {{"--mine", texts()}, {"--mine", {}}};
  }
  void operator()(ReferencePrecision* v) { *v = ReferencePrecision::kStored; }
  void operator()(CalibrationAlgorithm* v) {
    *v = below(2) == 0 ? CalibrationAlgorithm::kLegacy : CalibrationAlgorithm::kMinMax;
  }
  void operator()(PrecisionConstraints* v) {
    *v = below(2) == 0 ? PrecisionConstraints::kNone : PrecisionConstraints::kPrefer;
  }
  void operator()(std::optional<PostprocessFunc>* v) {
    *v = below(2) == 0 ? PostprocessFunc::top_k({{text(), {below(9) + 1, -1}}, {"", {2, 0}}})
                       : PostprocessFunc::script(script_);
  }
  void operator()(std::vector<CompareFunc>* v) {
    *v = {CompareFunc::simple({.atol = number(),
                               .rtol = {{text(), number()}, {"", 1}},
                               .check_error_stat = "quantile",
                               .error_quantile = 0.5,
                               .check_shapes = below(2) == 0}),
          CompareFunc::indices(below(9)), CompareFunc::psnr({{"y", number()}}, false), CompareFunc::l2(),
          CompareFunc::script(script_)};
  }

  int below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }

 private:
  Number number() {
    switch (below(5)) {
      case 0:
        return below(100) - 50;
      case 1:
        return (int64_t{1} << 60) + below(100);
      case 2:
        return std::numeric_limits<double>::infinity();
      case 3:
        return static_cast<double>(below(7));
      default:
        return 1e-9 * below(1 << 20) - 1e-3;
    }
  }
  /// With special characters of files, shells and JSON.
  std::string text() {
    static constexpr std::string_view kAlphabet = "ab:=/\"\\ \n\t[]{},.*-\xc3\xb6\xff'0";
    std::string text;
    for (int i = below(8); i >= 0; --i) text += kAlphabet[static_cast<size_t>(below(int(kAlphabet.size())))];
    return text;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (int i = below(3); i >= 0; --i) all.push_back(text());
    return all;
  }
  RunShapes shapes() { return {{text(), {1, below(9), Dim(), Dim::symbol("n")}}, {"s", {}}}; }

  std::mt19937 random_;
  std::string script_;
};

TEST_F(SettingsFiles, EveryMemberRoundTripsByItself) {
  for (const RunRow* row : run_members())
    for (uint32_t salt = 0; salt < 8; ++salt) {
      RunSettings settings;
      std::visit(Values(salt, path("s.py") + ":f"), row->at(settings));
      const std::string text = saved(settings);
      EXPECT_TRUE(differs_from_default(*row, settings)) << row->member;
      EXPECT_NE(text.find("\"" + std::string(row->member) + "\""), std::string::npos) << text;
      // Members that exclude others are alone here.
      RunSettings again = loaded(text);
      EXPECT_EQ(member_json(row->at(again)), member_json(row->at(settings))) << row->member;
      EXPECT_EQ(saved(again), text) << row->member;
    }
}

TEST_F(SettingsFiles, RandomSettingsRoundTrip) {
  size_t tried = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RunSettings settings;
    Values values(seed, path("s.py") + ":f");
    for (const RunRow* row : run_members())
      if (values.below(3) == 0) std::visit(values, row->at(settings));
    const std::string text = saved(settings);
    try {
      const RunSettings again = loaded(text);
      EXPECT_EQ(saved(again), text) << text;
      ++tried;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("contradict each other"), std::string::npos) << e.what() << text;
    }
  }
  EXPECT_GT(tried, 100U);
}

TEST_F(SettingsFiles, WhatIsAsByDefaultIsNotThere) {
  EXPECT_EQ(saved(RunSettings()), "{\n    \"version\": 1,\n    \"settings\": {}\n}\n");
  RunSettings settings;
  settings.verdict.trace = false;
  settings.data.seed = 7;
  settings.runners = {{.backend = "engine"}};
  EXPECT_EQ(saved(settings),
            "{\n    \"version\": 1,\n    \"settings\": {\n        \"data.seed\": 7,\n        \"runners\": [\n"
            "            {\n                \"backend\": \"engine\"\n            }\n        ],\n"
            "        \"verdict.trace\": false\n    }\n}\n");
}

TEST_F(SettingsFiles, DamagedOnesSayWhere) {
  for (const char* text : {"", "{", "[]", "7", "{\"version\": 1, \"settings\": {\"data.seed\": }}",
                           "{\"version\": 1, \"settings\": {}} x", "\xff\xfe",
                           "{\"version\": 1, \"settings\": []}", "{\"settings\": {}}", "{}"}) {
    const std::string error = error_of(text);
    EXPECT_NE(error.find("given.json"), std::string::npos) << text << ": " << error;
  }
  EXPECT_NE(error_of("{}").find("it has no version"), std::string::npos);
  EXPECT_EQ(error_of("{\"settings\": {}, \"version\": 1}"), "") << "the order of the two is free";
}

TEST_F(SettingsFiles, OtherVersionsAreRefused) {
  for (const char* version : {"2", "0", "\"1\"", "1.5", "null"}) {
    const std::string error =
        error_of(std::string("{\"version\": ") + version + ", \"settings\": {\"of.the.future\": 1}}");
    EXPECT_NE(error.find("another version than 1"), std::string::npos) << error;
    EXPECT_NE(error.find("Save them again"), std::string::npos) << error;
  }
}

TEST_F(SettingsFiles, UnknownMembersGetTheNearest) {
  EXPECT_NE(error_of_members("\"data.sead\": 7").find("a run has no setting 'data.sead'"), std::string::npos);
  EXPECT_NE(error_of_members("\"data.sead\": 7").find("Did you mean 'data.seed'"), std::string::npos);
  EXPECT_NE(error_of_members("\"runners\": [{\"backnd\": \"x\"}]").find("Did you mean 'backend'"),
            std::string::npos);
  EXPECT_NE(error_of("{\"version\": 1, \"setings\": {}}").find("'setings'"), std::string::npos);
}

TEST_F(SettingsFiles, WrongTypesNameTheMember) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"\"data.seed\": \"7\"", "'data.seed' takes a whole number, not a string"},
      {"\"data.seed\": 1.5", "'data.seed' takes a whole number, not 1.5"},
      {"\"data.seed\": 1e400", "'data.seed'"},
      {"\"session.threads\": 4294967297", "'session.threads' takes a whole number of 32 bits"},
      {"\"engine.profile\": -1", "'engine.profile' takes a whole number from 0 on"},
      {"\"validate\": 1", "'validate' takes true or false, not a number"},
      {"\"model.path\": null", "'model.path' takes a string, not null"},
      {"\"runners\": \"engine\"", "'runners' takes an array, not a string"},
      {"\"data.shapes\": [1]", "'data.shapes' takes an object, not an array"},
      {"\"data.shapes\": {\"x\": [true]}", "'data.shapes' takes extents"},
      {"\"session.reference_precision\": \"float23\"", "it is one of float64, stored"},
      {"\"engine.tensor_types\": {\"x\": \"float23\"}", "'engine.tensor_types' cannot be 'float23'"},
      {"\"compare_funcs\": [{\"function\": \"nearly\"}]", "'nearly' is no comparison function"},
      {"\"compare_funcs\": [{\"function\": \"simple\", \"error_quantile\": 2}]", "not between 0 and 1"},
      {"\"compare_funcs\": [{\"function\": \"script\", \"script\": \"gone.py\"}]", "gone.py"},
      {"\"postprocess\": {}", "one of the two"},
  };
  for (const auto& [members, part] : kWrong) {
    const std::string error = error_of_members(members);
    EXPECT_NE(error.find(part), std::string::npos) << members << ": " << error;
    EXPECT_NE(error.find("given.json"), std::string::npos) << error;
  }
}

TEST_F(SettingsFiles, Contradictions) {
  for (const char* members : {"\"data.seed\": 1, \"data.seed\": 2",
                              "\"engine.save_tactics\": \"a\", \"engine.load_tactics\": \"b\"",
                              "\"model.mark_all\": true, \"model.outputs\": [\"y\"]",
                              "\"check_average\": true, \"fail_fast\": true",
                              "\"data.script\": \"s.py\", \"data.load_inputs\": [\"a\"]", "\"runners\": [{}]",
                              "\"runners\": [{\"backend\": \"engine\", \"script\": \"r.py\"}]"}) {
    const std::string error = error_of_members(members);
    EXPECT_NE(error.find("given.json"), std::string::npos) << members << ": " << error;
    EXPECT_NE(error.find("Leave one of the two out."), std::string::npos) << error;
  }
}

TEST_F(SettingsFiles, WhatOnlyAProgramHasIsRefusedByName) {
  const auto refusal = [&](const auto& change) {
    RunSettings settings;
    change(settings);
    try {
      saved(settings);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal([](RunSettings& s) { s.on_step = [] {}; }).find("'on_step'"), std::string::npos);
  EXPECT_NE(
      refusal([](RunSettings& s) { s.model.edits.emplace_back([](Network&) {}); }).find("'model.edits'"),
      std::string::npos);
  EXPECT_NE(refusal([](RunSettings& s) {
              s.data.source = [](const std::vector<TensorInfo>&) { return std::nullopt; };
            }).find("'data.source'"),
            std::string::npos);
  EXPECT_NE(refusal([](RunSettings& s) {
              s.runners.emplace_back().open = [](const ModelSource&, const SessionOptions&) {
                return std::unique_ptr<Session>();
              };
            }).find("'runners[].open'"),
            std::string::npos);
  EXPECT_NE(refusal([](RunSettings& s) {
              s.compare_funcs = {CompareFunc::custom(
                  "mine", [](const std::string&, const Tensor&, const Tensor&) { return true; })};
            }).find("'compare_funcs'"),
            std::string::npos);
  EXPECT_NE(refusal([](RunSettings& s) {
              s.postprocess = PostprocessFunc::custom([](IterationResult r) { return r; });
            }).find("'postprocess'"),
            std::string::npos);
  RunSettings watched;
  watched.on_step = [] {};
  EXPECT_THROW(save_run_settings(watched, path("saved.json")), Error);
  EXPECT_FALSE(fs::exists(path("saved.json"))) << "nothing is written";
}

TEST_F(SettingsFiles, AreFiles) {
  RunSettings settings;
  settings.data.seed = 7;
  save_run_settings(settings, path("saved.json"));
  EXPECT_EQ(load_run_settings(path("saved.json")).data.seed, 7);
}

TEST_F(SettingsFiles, FilesThatCannotBeReadOrWritten) {
  EXPECT_THROW(load_run_settings(path("gone.json")), Error);
  EXPECT_THROW(load_run_settings(folder_.string()), Error);
  EXPECT_THROW(save_run_settings(RunSettings(), "/dev/null/x"), Error);
}

// ---- the table

/// Converts to any member type of an aggregate.
struct Any {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Args>
constexpr size_t count_fields() {
  if constexpr (requires { T{Args{}..., Any{}}; })
    return count_fields<T, Args..., Any>();
  else
    return sizeof...(Args);
}

size_t rows_below(const std::string& prefix) {
  std::set<std::string> names;
  for (const RunRow* row : run_members()) {
    const std::string member(row->member);
    if (!member.starts_with(prefix)) continue;
    names.insert(member.substr(prefix.size(), member.find('.', prefix.size()) - prefix.size()));
  }
  return names.size();
}

TEST(RunTable, EveryMemberOfTheSettingsHasARowOrIsRefused) {
  // The number of members: those in rows, and those that first_unsaveable() names.
  EXPECT_EQ(count_fields<RunSettings>(), rows_below("") + 1);                 // on_step
  EXPECT_EQ(count_fields<RunModel>(), rows_below("model.") + 1);              // edits
  EXPECT_EQ(count_fields<ImportOptions>(), rows_below("model.import.") + 1);  // ops
  EXPECT_EQ(count_fields<RunData>(), rows_below("data.") + 1);                // source
  EXPECT_EQ(count_fields<RunEngine>(), rows_below("engine."));
  // profiles, timing_cache, calibrator, algorithm_selector, on_progress
  EXPECT_EQ(count_fields<BuilderConfig>(), rows_below("engine.config.") + 5);
  // passes, tactics, ops, build_engine, save_engine, profile, on_warning, judged
  EXPECT_EQ(count_fields<SessionOptions>(), rows_below("session.") + 8);
  EXPECT_EQ(count_fields<RunSaving>(), rows_below("save."));
  EXPECT_EQ(count_fields<RunVerdict>(), rows_below("verdict."));
  EXPECT_EQ(count_fields<RunExtensions>(), rows_below("extensions."));
}

/// The other tests compare what is written; this one looks at the values themselves.
TEST(RunTable, EveryFieldOfAStructureIsInTheFile) {
  RunSettings s;
  s.log = RunLog{.verbosity = {"INFO"}, .timestamp = true, .line_info = true, .colors = false, .file = "l"};
  s.runners = {{.backend = "engine", .name = "n"}, {.script = "r.py", .options = {{"a", "b"}}}};
  s.data.float_range = RunRange{.low = -1.5, .high = 7};
  s.engine.profiles = {{.min = {{"x", {1}}}, .opt = {{"x", {2}}}, .max = {{"x", {Dim::symbol("n")}}}}};
  s.engine.config.layer_types = {{.layers = "a", .precision = DType::kInt8, .outputs = {DType::kFloat16}}};
  s.compare_funcs = {CompareFunc::simple({.atol = 1,
                                          .rtol = {{"y", 0.5}},
                                          .check_error_stat = "max",
                                          .error_quantile = 0.25,
                                          .check_shapes = false,
                                          .infinities_compare_equal = true}),
                     CompareFunc::indices(3), CompareFunc::psnr(30.5, false)};
  s.postprocess = PostprocessFunc::top_k({{"y", {3, -2}}});
  const RunSettings again = parse_run_settings(run_settings_text(s), "again.json");
  EXPECT_EQ(count_fields<RunLog>(), 5U);
  EXPECT_EQ(again.log->verbosity, s.log->verbosity);
  EXPECT_TRUE(again.log->timestamp && again.log->line_info && !again.log->colors);
  EXPECT_EQ(again.log->file, "l");
  EXPECT_EQ(count_fields<RunRunner>(), 5U) << "four, and a function";
  EXPECT_EQ(again.runners.at(0).backend + again.runners[0].name, "enginen");
  EXPECT_EQ(again.runners.at(1).script, "r.py");
  EXPECT_EQ(again.runners[1].options, s.runners[1].options);
  EXPECT_EQ(count_fields<RunRange>(), 2U);
  ASSERT_TRUE(again.data.float_range->low && again.data.float_range->high);
  EXPECT_EQ(again.data.float_range->low->value(), -1.5);
  EXPECT_EQ(again.data.float_range->high->integer(), 7);
  EXPECT_EQ(count_fields<RunProfile>(), 3U);
  const RunProfile& profile = again.engine.profiles.at(0);
  EXPECT_TRUE(profile.min == s.engine.profiles[0].min && profile.opt == s.engine.profiles[0].opt &&
              profile.max == s.engine.profiles[0].max);
  EXPECT_EQ(count_fields<LayerTypes>(), 3U);
  const LayerTypes& types = again.engine.config.layer_types.at(0);
  EXPECT_EQ(types.layers, "a");
  EXPECT_EQ(types.precision, DType::kInt8);
  EXPECT_EQ(types.outputs, std::vector<DType>{DType::kFloat16});
  EXPECT_EQ(count_fields<CompareDescription>(), 10U);
  const CompareDescription simple = describe(again.compare_funcs.at(0)),
                           psnr = describe(again.compare_funcs.at(2));
  EXPECT_EQ(simple.atol.entries().at(0).second.integer(), 1);
  EXPECT_EQ(simple.rtol.entries().at(0).first, "y");
  EXPECT_EQ(simple.rtol.entries()[0].second.value(), 0.5);
  EXPECT_EQ(simple.check_error_stat.entries().at(0).second, "max");
  EXPECT_EQ(simple.error_quantile.entries().at(0).second.value(), 0.25);
  EXPECT_TRUE(!simple.check_shapes && simple.infinities_compare_equal);
  EXPECT_EQ(describe(again.compare_funcs.at(1)).index_tolerance.entries().at(0).second, 3);
  EXPECT_EQ(psnr.function, "psnr");
  EXPECT_EQ(psnr.threshold.entries().at(0).second.value(), 30.5);
  EXPECT_FALSE(psnr.check_shapes);
  EXPECT_EQ(count_fields<PostprocessDescription>(), 2U);
  EXPECT_EQ(describe(*again.postprocess).top_k, describe(*s.postprocess).top_k);
}

TEST(RunTable, OptionsAreThereOnce) {
  std::set<std::string> names;
  for (const RunGroup& group : run_groups())
    for (const RunRow& row : group.rows) {
      EXPECT_TRUE(row.has_option() || row.has_member());
      EXPECT_EQ(row.member.empty(), row.at == nullptr) << row.member;
      for (const std::string& name : row.option.names) EXPECT_TRUE(names.insert(name).second) << name;
      if (row.has_option()) {
        EXPECT_FALSE(row.option.help.empty()) << row.option.names.front();
      }
    }
  EXPECT_GT(names.size(), 150U);
}

}  // namespace
}  // namespace assay::poly::run_settings_test
