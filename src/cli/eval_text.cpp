#include "cli/eval_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/log_format.h"
#include "base/python_repr.h"
#include "cli/options/engine_search.h"
#include "console/text_table.h"

namespace assay::cli {
namespace {

using eval::Evaluation;
using eval::Kind;
using eval::Row;

constexpr size_t kWorstShown = 5;
constexpr size_t kBadShown = 5;

std::string value_text(Kind kind, const std::optional<double>& value) {
  if (!value) return "-";
  return kind == Kind::kProportion ? fmt::format("{:.2f} %", *value * 100) : format_g(*value, 5);
}

std::string interval_text(const Row& row, const eval::Figure& f) {
  return f.low ? fmt::format("{} to {}", value_text(row.kind, f.low), value_text(row.kind, f.high)) : "-";
}

/// Results that are no finite numbers.
std::string others_text(const Row& row) {
  const eval::Tally& t = row.tally;
  std::string text;
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(t.nan, "NaN");
  add(t.negative_infinity, "-inf");
  const bool without_difference = row.low_is_worse && row.kind == Kind::kMean;
  add(t.positive_infinity, without_difference ? "equal" : "inf");
  return text.empty() ? "-" : text;
}

std::string table_of(const Evaluation& e) {
  TextTable table({{"Metric"},
                   {"Backend"},
                   {"Output"},
                   {"Value", true},
                   {"95 % interval", true},
                   {"Least", true},
                   {"Greatest", true},
                   {"Count", true},
                   {"Others", true}});
  for (const Row& row : e.rows) {
    const eval::Figure f = row.tally.figure(row.kind);
    const bool is_mean = row.kind != Kind::kProportion, is_set = row.kind == Kind::kSet;
    table.add({row.metric, row.backend, row.output.empty() ? "-" : row.output,
               value_text(row.kind, is_set ? row.whole : f.value), interval_text(row, f),
               is_mean ? value_text(row.kind, row.tally.least) : "-",
               is_mean ? value_text(row.kind, row.tally.greatest) : "-",
               std::to_string(is_set ? static_cast<int64_t>(row.records.size()) : row.tally.count),
               others_text(row)});
  }
  return table.str(table_columns(0));
}

std::string times_text(const Evaluation& e) {
  std::string text;
  for (const eval::BackendTimes& t : e.times) {
    if (t.times.count == 0) continue;
    const auto milliseconds = [&](double share) { return format_g(*t.times.quantile(share) * 1e3, 3); };
    text += fmt::format("\n{}: a sample takes {} ms (median), {} ms (90 %), {} ms (99 %)", t.backend,
                        milliseconds(0.5), milliseconds(0.9), milliseconds(0.99));
  }
  return text;
}

std::string worst_text(const Evaluation& e) {
  std::string text;
  for (const Row& row : e.rows) {
    if (row.worst.list().empty()) continue;
    text += fmt::format("\nWorst in {} of {}{}:", row.metric, row.backend,
                        row.output.empty() ? "" : ", " + row.output);
    for (size_t i = 0; i < std::min(kWorstShown, row.worst.list().size()); ++i) {
      const eval::Ranked& r = row.worst.list()[i];
      text += fmt::format("{} {} ({})", i == 0 ? "" : ",", r.sample, format_g(r.value, 4));
    }
  }
  return text;
}

std::string bad_text(const Evaluation& e) {
  if (e.bad == 0) return {};
  std::string text = fmt::format("\n{} bad sample(s) were left out:", e.bad);
  for (size_t i = 0; i < std::min(kBadShown, e.bad_samples.size()); ++i)
    text += fmt::format("\n  {}: {}", e.bad_samples[i].sample, e.bad_samples[i].reason);
  if (e.bad > static_cast<int64_t>(kBadShown)) text += "\n  ...";
  return text;
}

/// By backend: on how many of the judged samples it is wrong, and where.
std::string judged_text(const Evaluation& e) {
  struct Found {
    std::set<int64_t> samples, wrong;
    std::map<std::string, size_t> nodes;
  };
  std::vector<std::string> order;
  std::map<std::string, Found> backends;
  for (const eval::JudgedSample& j : e.judged) {
    if (backends.count(j.backend) == 0) order.push_back(j.backend);
    Found& found = backends[j.backend];
    found.samples.insert(j.sample);
    if (j.verdict != "WRONG") continue;
    found.wrong.insert(j.sample);
    ++found.nodes[j.node.empty() ? "output " + j.output : "node " + j.node];
  }
  std::string text;
  for (const std::string& name : order) {
    const Found& found = backends[name];
    if (found.wrong.empty()) {
      text += fmt::format("\n{} is not wrong on any of the {} judged sample(s)", name, found.samples.size());
      continue;
    }
    text += fmt::format("\n{} is WRONG on {} of the {} judged sample(s)", name, found.wrong.size(),
                        found.samples.size());
    for (const auto& [node, count] : found.nodes) text += fmt::format("\n  {}: {} sample(s)", node, count);
  }
  return text;
}

std::string entry(const eval::Entries& entries, std::string_view name) {
  for (const auto& [key, value] : entries)
    if (key == name) return value;
  return {};
}

void add_backends(const std::string& names, std::vector<std::string>& words) {
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    const std::string name = names.substr(at, end - at);
    words.push_back("--" + name.substr(0, name.find('#')));
    at = end + 1;
  }
}

void add_data(const eval::Entries& data, std::vector<std::string>& words) {
  const std::string kind = entry(data, "kind"), name = entry(data, "name");
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  if (kind == "tokens")
    add("--tokens", name);
  else if (kind == "random numbers")
    add("--seed", entry(data, "seed")), add("--iterations", entry(data, "iterations"));
  else
    add("--data", name);
  const std::string labels = entry(data, "labels");
  if (!labels.empty()) add("--labels", labels.starts_with("array ") ? labels.substr(6) : "LABELS");
}

}  // namespace

std::string evaluation_text(const Evaluation& e) {
  std::string text = fmt::format("{} of {} samples", e.covered.count(),
                                 e.samples ? std::to_string(*e.samples) : "an unknown number of");
  return text + "\n" + table_of(e) + times_text(e) + worst_text(e) + judged_text(e) + bad_text(e);
}

std::string evaluation_command(const Evaluation& e, const eval::Ranges& only) {
  const eval::Entries& options = e.identity.options;
  std::vector<std::string> words = {"assay", "eval", e.identity.model_name};
  add_data(e.identity.data, words);
  add_backends(entry(options, "backends"), words);
  const std::string golden = entry(options, "golden");
  if (golden == "float64") words.insert(words.end(), {"--truth", "exact"});
  const std::string first = entry(options, "backends").substr(0, entry(options, "backends").find(' '));
  if (golden != "float64" && golden != first) words.insert(words.end(), {"--golden", golden});
  for (const auto& [name, value] : options) {
    if (name == "backends" || name == "golden" || value.empty()) continue;
    words.push_back(name.starts_with("-") ? name : "--" + name);
    words.push_back(value);
  }
  words.insert(words.end(), {"--only", only.text(), "-o", "missing.json"});
  return shell_line(words);
}

}  // namespace assay::cli
