// Post-processing of outputs before they are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/tensor.h"
#include "compare/outputs.h"
#include "compare/tolerance.h"

namespace assay {

/// The k largest values along an axis.
struct TopK {
  int64_t k = 10;
  int64_t axis = -1;
};

/// The int64 indices of the k largest elements along an axis, largest first; of equal elements the one with
/// the lower index comes first, NaN comes last. Fewer than k when the axis is shorter. Throws Error
/// (kInvalidArgument) for k < 0, an axis that does not exist, strings and complex numbers. NumPy's negation
/// wraps unsigned integers around, which puts a zero on top; here a zero is the smallest.
Tensor top_k_indices(const Tensor& tensor, int64_t k, int64_t axis = -1);

/// The outputs of a source, each replaced by its top-k indices when it is loaded; unchanged if k is missing
/// or 0. An axis given for one output does not affect another. Error messages name the output.
class TopKOutputs : public OutputSource {
 public:
  TopKOutputs(std::shared_ptr<const OutputSource> source, PerOutput<TopK> top_k)
      : source_(std::move(source)), top_k_(std::move(top_k)) {}
  const std::string& runner_name() const override { return source_->runner_name(); }
  const std::vector<std::string>& names() const override { return source_->names(); }
  Tensor load(size_t index) const override;

 private:
  std::shared_ptr<const OutputSource> source_;
  PerOutput<TopK> top_k_;
};

/// Names in `top_k` that none of these outputs has, each with a suggestion where there is one.
struct UnknownPostprocessed {
  std::string name, suggestion;
};
std::vector<UnknownPostprocessed> unknown_outputs(const std::vector<std::string>& outputs,
                                                  const PerOutput<TopK>& top_k);

/// Replaces the outputs of an iteration before they are validated and compared.
class Postprocess {
 public:
  virtual ~Postprocess() = default;
  /// Its name in the log.
  virtual std::string name() const = 0;
  /// Before any work: checks everything that does not need outputs. Throws Error.
  virtual void prepare() const {}
  /// `seconds`: the time of the iteration, if known. Throws Error.
  virtual std::shared_ptr<const OutputSource> apply(std::shared_ptr<const OutputSource> outputs,
                                                    std::optional<double> seconds) const = 0;
  /// Names of outputs that it was given and that none of these has.
  virtual std::vector<UnknownPostprocessed> unknown(const std::vector<std::string>& /*outputs*/) const {
    return {};
  }
};

/// The top-k indices of each output.
class TopKPostprocess : public Postprocess {
 public:
  explicit TopKPostprocess(PerOutput<TopK> top_k) : top_k_(std::move(top_k)) {}
  const PerOutput<TopK>& top_k() const { return top_k_; }
  std::string name() const override { return "TopKPostprocessFunc"; }
  std::shared_ptr<const OutputSource> apply(std::shared_ptr<const OutputSource> outputs,
                                            std::optional<double>) const override {
    return std::make_shared<TopKOutputs>(std::move(outputs), top_k_);
  }
  std::vector<UnknownPostprocessed> unknown(const std::vector<std::string>& outputs) const override {
    return unknown_outputs(outputs, top_k_);
  }

 private:
  PerOutput<TopK> top_k_;
};

}  // namespace assay
