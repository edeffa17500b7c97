// THE description of a run: a row for every option of `run`.
//
// poly::RunSettings (assay/run.h) is a run as data. A row says which member of it an option sets, how the
// option is spelled and what its help is. Everything else follows from the rows:
//
//   the command line and --help  cli/run_settings.cpp: words become the member's value by its type
//   a settings file              poly/run_json.cpp: a member is one entry, its name is the one in the row
//   a C++ program                cli/gen_script/run_script_cpp.cpp: a member is one statement, by its type
//   a Python program             cli/gen_script/run_script_python.cpp: the words again, by cli/run_words.cpp
//   the run itself               poly/run.cpp: run_options(), which the command and poly::run() both call
//
// To add an option: the member in assay/run.h, a row in the part that it belongs to (run_table_<part>.cpp),
// and its use. Nothing else has to be changed if the type of the member is one of RunMember and
// its words have that type's syntax. An option with a special syntax (several options for one member, words
// that depend on the model) has RunWords::kOwn and has its two functions
// in cli/run_settings.cpp (words to member) and cli/run_words.cpp (member to words); a test goes through all
// rows.
//
// Rows are in groups, which are those of --help. Other commands take the groups that they share with `run`
// (model, data, engine, ...) from here: options_of().
//
// A member of RunSettings that is in no row fails a test, unless it cannot be saved (a function, a session of
// the program): those are listed in run_json.cpp, and saving names them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "assay/run.h"
#include "poly/option.h"

namespace assay::poly {

/// A member of RunSettings: its location and type.
using RunMember =
    std::variant<bool*, int*, int64_t*, size_t*, double*, std::string*, std::vector<std::string>*,
                 std::optional<std::string>*, std::optional<int64_t>*, std::optional<int>*,
                 std::optional<std::vector<std::string>>*, std::optional<RunLog>*, std::vector<RunRunner>*,
                 RunShapes*, std::vector<std::pair<std::string, RunRange>>*, std::optional<RunRange>*,
                 std::vector<RunProfile>*, std::vector<std::pair<std::string, DType>>*,
                 std::vector<LayerTypes>*, std::map<std::string, std::string>*,
                 std::vector<std::pair<std::string, std::vector<std::string>>>*, ReferencePrecision*,
                 CalibrationAlgorithm*, PrecisionConstraints*, std::optional<PostprocessFunc>*,
                 std::vector<CompareFunc>*>;

/// Sections of members, in the order of files and programs.
enum class RunPart : uint8_t {
  kProcess,  ///< the log, and the limits of the process
  kExtensions,
  kModel,
  kData,
  kRunners,
  kSession,  ///< how their sessions are made
  kEngine,   ///< how the engine in TensorRT's role is built
  kOrder,    ///< the order in which it all happens
  kComparison,
  kVerdict,
  kOutput,  ///< the reduction
};

/// The conversion between an option's words and the member's value.
enum class RunWords : uint8_t {
  kByType,    ///< as the type of the member says
  kBytes,     ///< an integer with K, M or G
  kOffAgain,  ///< a flag that sets the member to false
  kOwn,       ///< by specific functions
};

struct RunRow {
  RunPart part = RunPart::kProcess;
  /// Its name in files, and in C++ after `run.`. Several rows may set one. Empty: the option acts before the
  /// run begins.
  std::string_view member = {};
  RunMember (*at)(RunSettings& settings) = nullptr;
  Option option = {};  ///< without names: only files and programs set the member
  RunWords words = RunWords::kByType;
  /// Of integers.
  int64_t least = INT64_MIN, most = INT64_MAX;

  bool has_member() const { return at != nullptr; }
  bool has_option() const { return !option.names.empty(); }
};

/// Rows under one title of --help; without a title they have no options.
struct RunGroup {
  std::string_view title, description;
  std::vector<RunRow> rows;
};

/// All of them, in the order of --help.
const std::vector<RunGroup>& run_groups();
/// One row for each member, the parts in their order.
const std::vector<const RunRow*>& run_members();
/// The row of an option, by its first name; null when there is none.
const RunRow* find_run_option(std::string_view name);
/// The options under a title.
std::vector<Option> options_of(std::string_view title);

/// Parts of run_groups(), each in a file of its own.
std::vector<RunGroup> log_rows();
std::vector<RunGroup> runner_rows();
std::vector<RunGroup> model_rows();
std::vector<RunGroup> data_rows();
std::vector<RunGroup> comparison_rows();
std::vector<RunGroup> engine_rows();
std::vector<RunGroup> output_rows();

}  // namespace assay::poly
