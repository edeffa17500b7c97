#include "cli/run_part.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.h"
#include "cli/values.h"
#include "script/reference.h"

namespace assay::cli {
namespace {

using poly::RunPart;
using poly::RunRow;
using poly::RunSettings;
using poly::RunWords;

std::optional<poly::Number> run_number(const std::optional<PythonValue>& value) {
  if (!value) return std::nullopt;
  return value->is_int() ? poly::Number(value->as_int()) : poly::Number(value->as_double());
}

/// An option that is given, and where its words go.
struct GivenRow {
  const ParsedArgs& args;
  const RunRow& row;

  const std::string& name() const { return row.option.names.front(); }
  std::string text() const { return args.text(name()).value_or(""); }
  std::vector<std::string> words() const { return args.list(name()).value_or(std::vector<std::string>()); }

  int64_t integer() const {
    if (row.words == RunWords::kBytes) return parse_byte_count(text());
    const int64_t value = args.integer(name()).value();
    if (row.most != INT64_MAX && (value < row.least || value > row.most))
      log::critical(ErrorCode::kInvalidArgument, "{}: {} is not between {} and {}.", name(), value, row.least,
                    row.most);
    return require_at_least(name(), value, row.least);
  }
};

// ---- words by the type of the member

void set(const GivenRow& g, bool& member) { member = g.row.words != RunWords::kOffAgain; }
void set(const GivenRow& g, int& member) { member = static_cast<int>(g.integer()); }
void set(const GivenRow& g, int64_t& member) { member = g.integer(); }
void set(const GivenRow& g, size_t& member) { member = static_cast<size_t>(g.integer()); }
void set(const GivenRow& g, std::optional<int64_t>& member) { member = g.integer(); }
void set(const GivenRow& g, double& member) { member = g.args.number(g.name()).value(); }
/// A path that may be left out is the current folder.
void set(const GivenRow& g, std::string& member) {
  member = g.args.text(g.name()).value_or(g.row.option.arity == Arity::kOptional ? "." : "");
}
/// One that may be left out is empty then. The first use counts.
void set(const GivenRow& g, std::optional<std::string>& member) {
  const std::vector<std::string> words = g.args.all(g.name()).front();
  member = words.empty() ? "" : words.front();
}
void set(const GivenRow& g, std::vector<std::string>& member) { member = g.words(); }
void set(const GivenRow& g, std::optional<std::vector<std::string>>& member) { member = g.words(); }
void set(const GivenRow& g, poly::RunShapes& member) {
  member.clear();
  for (const InputShape& s : parse_input_shapes(g.name(), g.words())) member.emplace_back(s.name, s.dims);
}
void set(const GivenRow& g, std::vector<std::pair<std::string, poly::RunRange>>& member) {
  member.clear();
  for (const auto& [name, range] : parse_value_ranges(g.words()))
    member.emplace_back(name, poly::RunRange{run_number(range.low), run_number(range.high)});
}
void set(const GivenRow& g, std::map<std::string, std::string>& member) {
  member.clear();
  for (const std::string& word : g.words()) {
    const size_t equal = word.rfind('=');
    if (equal == std::string::npos)
      log::critical(ErrorCode::kInvalidArgument, "{}: '{}' is not of the form {}.", g.name(), word,
                    g.row.option.metavar);
    member[word.substr(0, equal)] = word.substr(equal + 1);
  }
}
void set(const GivenRow& g, ReferencePrecision& member) {
  member = g.text() == "stored" ? ReferencePrecision::kStored : ReferencePrecision::kFloat64;
}
template <typename T>
void set(const GivenRow& g, T& /*member*/) {
  fail(ErrorCode::kInternal, "the words of {} mean something of their own, and nothing reads them", g.name());
}

}  // namespace

void read_run_part(const ParsedArgs& args, RunPart part, RunSettings& settings) {
  for (const poly::RunGroup& group : poly::run_groups())
    for (const RunRow& row : group.rows) {
      if (row.part != part || !row.has_member() || !row.has_option() || row.words == RunWords::kOwn) continue;
      const GivenRow given{args, row};
      if (!args.declares(given.name()) || !args.has(given.name())) continue;
      std::visit([&](auto* member) { set(given, *member); }, row.at(settings));
    }
}

std::string script_of(const ParsedArgs& args, const char* option, const std::string& default_function) {
  const auto text = args.text(option);
  return text ? script::parse_reference(*text, default_function).str() : std::string();
}

}  // namespace assay::cli
