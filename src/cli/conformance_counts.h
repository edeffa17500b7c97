// What became of conformance cases, in numbers: shards add up to the numbers of one process.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "run/conformance_report.h"

namespace assay::cli {

class ConformanceCounts {
 public:
  ConformanceCounts() = default;
  ConformanceCounts(std::span<const ConformanceOutcome> outcomes, const ConformanceReport& report);
  void add(const ConformanceCounts& other);
  bool is_good() const { return problems_.empty(); }
  /// A line: what passed, failed and was skipped, and how many problems there are.
  std::string str() const;

  /// As members of the object that is open.
  void write(JsonWriter& json) const;
  /// `name`: the file in errors. Throws Error (kInvalidArgument).
  static ConformanceCounts read(const JsonValue& object, const std::string& name);

 private:
  int64_t passed_ = 0, failed_ = 0, skipped_ = 0;
  std::map<std::string, int64_t> passed_on_;  ///< by target
  std::multiset<std::string> problems_;
};

}  // namespace assay::cli
