// Backends side by side, and the metrics of a sample.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eval/eval_options.h"
#include "run/runner.h"

namespace assay::eval {

/// The observations of one sample in a row; committed when the whole sample is good.
struct Observations {
  std::vector<double> values;
  std::vector<double> record;  ///< of a metric over the set
  double rank = 0;             ///< their mean
};

/// Opens the backends, and measures samples.
class BackendRows {
 public:
  /// Throws Error for a backend that cannot run the model, and for metrics that nothing can be measured by.
  explicit BackendRows(const EvalOptions& options);

  const std::vector<TensorInfo>& inputs() const { return runners_[golden_].inputs(); }
  const std::vector<TensorInfo>& outputs() const { return runners_[golden_].outputs(); }
  /// Of the backends that are judged: without the float64 one that is only compared with.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& golden_name() const { return golden_name_; }
  const std::vector<std::string>& metric_texts() const { return metric_texts_; }
  /// Empty rows, in order.
  std::vector<Row> rows() const;
  /// Runs the sample on every backend. Throws Error when the sample is bad.
  void measure(const Sample& sample, const std::vector<Tensor>& feed);
  const std::vector<Observations>& observations() const { return observations_; }
  /// Seconds of each backend for the last sample.
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  struct RowSource {
    const Metric* metric = nullptr;  ///< null: a function
    script::MetricScript* function = nullptr;
    size_t backend = 0, output = 0;
  };
  void choose_golden(const EvalOptions& options);
  void choose_metrics(const EvalOptions& options);
  void add_metric_rows(const Metric& metric);
  std::vector<size_t> outputs_of(const Metric& metric) const;
  void measure_row(const RowSource& row, const Sample& sample, Observations& observations);

  size_t worst_;
  ModelLoader loader_;
  std::vector<Runner> runners_;
  std::vector<std::unique_ptr<ActiveRunner>> active_;
  std::vector<std::string> names_, metric_texts_;
  std::string golden_name_;
  size_t golden_ = 0;
  std::vector<Metric> metrics_;
  std::vector<std::shared_ptr<script::MetricScript>> functions_;
  std::vector<RowSource> sources_;
  std::vector<std::vector<Tensor>> results_;  ///< by backend, then output
  std::vector<Observations> observations_;
  std::vector<double> seconds_;
};

}  // namespace assay::eval
