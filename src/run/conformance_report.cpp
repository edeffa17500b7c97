#include "run/conformance_report.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

std::string_view trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

bool matches(const std::string& pattern, std::string_view text) {
  return fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

enum class Standing : uint8_t { kPassed, kFailed, kSkipped };

struct Cell {
  int counts[3] = {0, 0, 0};
  void add(Standing s) { ++counts[static_cast<size_t>(s)]; }
  int count(Standing s) const { return counts[static_cast<size_t>(s)]; }
  std::string text() const {
    std::string others;
    const auto add = [&](Standing s, const char* word) {
      if (count(s) > 0) others += fmt::format("{}{} {}", others.empty() ? "" : ", ", count(s), word);
    };
    add(Standing::kFailed, "failed");
    add(Standing::kSkipped, "skipped");
    const int passed = count(Standing::kPassed);
    if (others.empty()) return passed > 0 ? std::to_string(passed) : "-";
    return fmt::format("{} ({})", passed, others);
  }
};

/// `ai.onnx 9` before `ai.onnx 13`.
struct ByDomainThenNumber {
  bool operator()(const std::string& a, const std::string& b) const {
    const size_t i = a.rfind(' '), k = b.rfind(' ');
    if (i == std::string::npos || k == std::string::npos || a.substr(0, i) != b.substr(0, k)) return a < b;
    return std::stoll(a.substr(i)) < std::stoll(b.substr(k));
  }
};

/// Rows of cells, one for each target.
class Table {
 public:
  using Row = std::map<std::string_view, Cell>;

  explicit Table(std::span<const ConformanceOutcome> outcomes) {
    for (const ConformanceOutcome& o : outcomes)
      if (std::find(targets_.begin(), targets_.end(), o.target->name) == targets_.end())
        targets_.push_back(o.target->name);
  }

  void add(const ConformanceOutcome& o, Standing s) {
    all_[o.target->name].add(s);
    for (const std::string& opset : o.use.opsets) opsets_[opset][o.target->name].add(s);
    for (const std::string& op : o.use.operators) operators_[op][o.target->name].add(s);
  }

  std::string text() const {
    std::vector<std::vector<std::string>> lines = {{"Opset"}};
    for (const std::string_view t : targets_) lines[0].emplace_back(t);
    for (const auto& [name, row] : opsets_) lines.push_back(line(name, row));
    lines.push_back({});
    lines.push_back(lines[0]);
    lines.back()[0] = "Operator";
    for (const auto& [name, row] : operators_) lines.push_back(line(name, row));
    lines.push_back({});
    lines.push_back(line("All cases", all_));
    return aligned(lines);
  }

 private:
  std::vector<std::string> line(const std::string& name, const Row& row) const {
    std::vector<std::string> cells = {name};
    for (const std::string_view t : targets_) {
      const auto it = row.find(t);
      cells.push_back((it == row.end() ? Cell() : it->second).text());
    }
    return cells;
  }

  static std::string aligned(const std::vector<std::vector<std::string>>& lines) {
    std::vector<size_t> widths;
    for (const auto& l : lines)
      for (size_t i = 0; i < l.size(); ++i) {
        widths.resize(std::max(widths.size(), l.size()));
        widths[i] = std::max(widths[i], l[i].size());
      }
    std::string text;
    for (const auto& l : lines) {
      std::string row;
      for (size_t i = 0; i < l.size(); ++i) row += fmt::format("{:<{}}  ", l[i], widths[i]);
      text += std::string(trimmed("|" + row)).substr(1) + "\n";
    }
    if (!text.empty()) text.pop_back();
    return text;
  }

  std::vector<std::string_view> targets_;
  std::map<std::string, Row, ByDomainThenNumber> opsets_;
  std::map<std::string, Row> operators_;
  Row all_;
};

}  // namespace

ConformanceExpectations::ConformanceExpectations(std::string_view text, const std::string& name) {
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty() || row.front() == '#') continue;
    const size_t space = row.find(' '), colon = row.find(": ");
    const std::string_view test =
        space < colon && colon != std::string_view::npos ? trimmed(row.substr(space, colon - space)) : "";
    const std::string_view reason = colon != std::string_view::npos ? trimmed(row.substr(colon + 1)) : "";
    require(!test.empty() && !reason.empty(), ErrorCode::kInvalidArgument,
            "{}: line {} is not of the form `TARGET CASE: REASON`: {}", name, line, row);
    entries_.push_back({line, std::string(row.substr(0, space)), std::string(test), std::string(reason)});
  }
}

const ConformanceExpectations::Entry* ConformanceExpectations::find(std::string_view target,
                                                                    std::string_view test) const {
  for (const Entry& e : entries_)
    if (matches(e.target, target) && matches(e.test, test)) return &e;
  return nullptr;
}

ConformanceReport conformance_report(std::span<const ConformanceOutcome> outcomes,
                                     const ConformanceExpectations& expectations, bool complete) {
  ConformanceReport report;
  Table table(outcomes);
  std::set<const ConformanceExpectations::Entry*> used;
  for (const ConformanceOutcome& o : outcomes) {
    const bool passed = o.result.verdict == ConformanceResult::Verdict::kPassed;
    const ConformanceExpectations::Entry* entry = expectations.find(o.target->name, o.test->name);
    if (entry != nullptr) used.insert(entry);
    Standing standing = passed ? Standing::kPassed : Standing::kFailed;
    if (!passed && entry != nullptr) {
      standing = Standing::kSkipped;
      ++report.reasons[{std::string(o.target->name), entry->reason}];
    } else if (!passed) {
      report.problems.push_back(
          fmt::format("FAILED {} {}: {}", o.target->name, o.test->name, o.result.reason));
    } else if (entry != nullptr) {
      report.problems.push_back(
          fmt::format("UNEXPECTED PASS {} {}: line {} of the expectations says that it does not (`{}`)",
                      o.target->name, o.test->name, entry->line, entry->reason));
    }
    ++(standing == Standing::kPassed   ? report.passed
       : standing == Standing::kFailed ? report.failed
                                       : report.skipped);
    table.add(o, standing);
  }
  if (complete)
    for (const auto& e : expectations.entries())
      if (!used.contains(&e))
        report.problems.push_back(fmt::format("UNUSED line {} of the expectations matches no case: {} {}",
                                              e.line, e.target, e.test));
  report.table = table.text();
  return report;
}

}  // namespace assay
