// Collects findings.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "assay/lint.h"
#include "lint/rules.h"

namespace assay::lint {

/// Its form in messages.
inline std::string_view domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

/// One finding.
struct Entry {
  const Rule* rule;
  std::string message;
  std::string node;       ///< name of a node of the main graph; empty: it concerns the whole model
  std::string operator_;  ///< that node's operator
};

/// The location of a finding in the model: the node of the main graph, and the path inside it.
struct Place {
  std::string node, operator_;
  std::string inside;           ///< `in 'body' of node 'loop' (Loop): `; empty in the main graph
  bool is_conditional = false;  ///< inside a branch of an If, which may never run
};

class Report {
 public:
  /// With `upstream_only`, rules that upstream does not have find nothing. `on_finding` may be empty.
  explicit Report(bool upstream_only, std::function<void(const Finding&)> on_finding = {})
      : upstream_only_(upstream_only), on_finding_(std::move(on_finding)) {}

  /// Records a finding and passes it on. The arguments fill in the rule's sentence. An exception makes its
  /// node a failing one.
  template <typename... Args>
  void add(const Rule& rule, const Place& place, const Args&... args) {
    if (!upstream_only_ || rule.is_upstream)
      keep(rule, place, fmt::vformat(fmt::string_view(rule.sentence), fmt::make_format_args(args...)));
  }
  /// Marks a node of the main graph as passing, unless it is failing.
  void add_passing(const std::string& node);

  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<std::string> passing() const;
  const std::vector<std::string>& failing() const { return failing_; }
  bool is_valid() const { return is_valid_; }
  bool upstream_only() const { return upstream_only_; }
  bool has_failed(const std::string& node) const { return failing_set_.contains(node); }
  Findings findings() const;

 private:
  void keep(const Rule& rule, const Place& place, std::string message);

  bool upstream_only_;
  std::function<void(const Finding&)> on_finding_;
  bool is_valid_ = true;
  std::vector<Entry> entries_;
  std::vector<std::string> passing_, failing_;                 // passing ones may have failed later
  std::unordered_set<std::string> passing_set_, failing_set_;  // the same names
};

}  // namespace assay::lint
