// The metrics by name: what a sample's outputs are worth.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/tensor.h"
#include "eval/tally.h"

namespace assay::eval {

/// One output of a backend for one sample, and what it is compared with.
struct Measured {
  const Tensor& output;
  const Tensor* golden = nullptr;        ///< the same output of the golden backend
  std::span<const int64_t> labels = {};  ///< a class for each row of the output, or for the first ones
};

/// The values that an output is compared with.
enum class Truth : uint8_t { kLabels, kGolden };

struct MetricDef {
  std::string_view name;  ///< top stands for top1, top2, ...
  std::string_view summary;
  Kind kind;
  Truth truth;
  bool low_is_worse;
  double perfect;  ///< the value of a sample that is not among the worst
  /// Appends observations; NaN where there is no number. `k` of top-k. Throws Error (kInvalidArgument) for
  /// outputs that the metric is not for.
  void (*measure)(const Measured& measured, int64_t k, std::vector<double>& observations);
};
std::span<const MetricDef> metric_defs();
/// top1, top5, agreement, ...: for messages.
std::string metric_names();

/// A metric as it was asked for.
class Metric {
 public:
  /// NAME or NAME:OUTPUT. Throws Error (kInvalidArgument) listing the names.
  static Metric parse(std::string_view word);

  const MetricDef& def() const { return *def_; }
  const std::string& name() const { return name_; }
  /// The only output that is measured; empty: by default labels are for the first one, and all are compared.
  const std::string& output() const { return output_; }
  /// As parse() reads it.
  std::string text() const { return output_.empty() ? name_ : name_ + ":" + output_; }
  /// Clears and fills `observations`. Throws as MetricDef::measure.
  void measure(const Measured& measured, std::vector<double>& observations) const;

 private:
  const MetricDef* def_ = nullptr;
  std::string name_, output_;
  int64_t k_ = 0;
};

}  // namespace assay::eval
