// Running and comparing: Polygraphy's Comparator, CompareFunc, PostprocessFunc, DataLoader and RunResults.
//
//   RunResults results = Comparator::run({&trt, &onnxrt});
//   AccuracyResult accuracy = Comparator::compare_accuracy(results, {.compare_funcs =
//   {CompareFunc::simple({.atol = 1e-3})}}); if (!accuracy) ...
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/accuracy.h"
#include "assay/api.h"
#include "assay/arbiter.h"
#include "assay/backend.h"
#include "assay/runners.h"
#include "assay/tensor.h"

namespace ASSAY_API assay {
class Comparison;
class Postprocess;
}  // namespace assay

namespace ASSAY_API assay {
namespace poly {

/// Random inputs, drawn as Polygraphy draws them with NumPy: the same values for the same seed.
class DataLoader {
 public:
  struct Options {
    int64_t seed = 1;  ///< iteration i draws with seed + i
    int64_t iterations = 1;
    /// Shapes of inputs with open extents; an open extent that is not given is 1.
    std::map<std::string, Shape> shapes = {};
    /// The range of an input's values; "": of all other inputs. Default: 0 to 1.
    std::map<std::string, std::pair<double, double>> ranges = {};
  };
  DataLoader() = default;
  explicit DataLoader(Options options) : options_(std::move(options)) {}
  int64_t size() const { return options_.iterations; }
  /// The data of an iteration for these inputs. Throws Error for a type that cannot be random.
  FeedDict load(int64_t iteration, const std::vector<TensorInfo>& inputs) const;

 private:
  Options options_;
};

/// A source of data for successive iterations; nothing: there are no more.
using DataSource = std::function<std::optional<FeedDict>(const std::vector<TensorInfo>& inputs)>;
DataSource data_source(DataLoader loader);
DataSource data_source(std::vector<FeedDict> data);
/// A file that holds inputs, as --save-inputs writes it.
DataSource data_source(const std::string& path);

/// Saves inputs in the form that --load-inputs and Polygraphy read. Throws Error (kIo).
void save_inputs(const std::vector<FeedDict>& data, const std::string& path);

/// The result of one inference.
struct IterationResult {
  std::string runner_name;
  TensorList outputs;                  ///< in the runner's order
  std::optional<double> runtime = {};  ///< seconds

  /// Throws Error (kNotFound) that lists the names when there is none.
  const Tensor& at(const std::string& output) const;
};

/// Results by runner, in the order in which they ran.
class RunResults {
 public:
  using Iterations = std::vector<IterationResult>;
  void add(std::string runner, Iterations iterations) {
    runners_.emplace_back(std::move(runner), std::move(iterations));
  }
  const std::vector<std::pair<std::string, Iterations>>& runners() const { return runners_; }
  std::vector<std::pair<std::string, Iterations>>& runners() { return runners_; }
  /// The first runner of that name. Throws Error (kNotFound).
  const Iterations& at(const std::string& runner) const;
  size_t size() const { return runners_.size(); }
  /// Appends the runners of other results.
  void extend(RunResults other);

  /// As --save-outputs and Polygraphy write them; the file appears whole or not at all. Throws Error (kIo).
  void save(const std::string& path) const;
  /// Throws Error for a file of another format.
  static RunResults load(const std::string& path);

 private:
  std::vector<std::pair<std::string, Iterations>> runners_;
};

/// A number that reports print as it was given: 1 and 1.0 are distinguished.
class Number {
 public:
  Number(int value) : integer_(value), value_(value) {}  // NOLINT: numbers are numbers
  Number(int64_t value) : integer_(value), value_(static_cast<double>(value)) {}  // NOLINT
  Number(double value) : value_(value) {}                                         // NOLINT
  double value() const { return value_; }
  /// The integer; nothing if a double was given.
  const std::optional<int64_t>& integer() const { return integer_; }

 private:
  std::optional<int64_t> integer_;
  double value_;
};

/// A value for all outputs, or by the names of outputs: {{"y", 1e-3}, {"hidden_*", 1e-2}, {"", 1e-5}}. A name
/// may be a pattern, and "" stands for all others; an output takes the value of its own name, else of the
/// last pattern that fits.
template <typename T>
class ByOutput {
 public:
  ByOutput() = default;
  template <typename U>
  requires std::convertible_to<U, T> ByOutput(U&& value)
      : entries_{{std::string(), T(std::forward<U>(value))}} {}  // NOLINT: one value is meant for all
  ByOutput(std::initializer_list<std::pair<std::string, T>> entries) : entries_(entries) {}
  /// From a list of any length.
  static ByOutput of(std::vector<std::pair<std::string, T>> entries) {
    ByOutput made;
    made.entries_ = std::move(entries);
    return made;
  }
  const std::vector<std::pair<std::string, T>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, T>> entries_;
};

/// Tolerances and statistics of a comparison.
class CompareFunc {
 public:
  struct Simple {
    ByOutput<Number> atol = {}, rtol = {};        ///< default: 1e-5
    ByOutput<std::string> check_error_stat = {};  ///< elemwise (the default), max, mean, median, quantile:
                                                  ///< the statistic
    ByOutput<Number> error_quantile = {};         ///< in [0, 1]; default: 0.99
    bool check_shapes = true, infinities_compare_equal = false;
  };
  /// Absolute and relative errors against tolerances: an output fails when both are exceeded.
  static CompareFunc simple(const Simple& options);
  static CompareFunc simple() { return simple(Simple()); }
  /// Places of indices, such as those of a top-k.
  static CompareFunc indices(ByOutput<int64_t> index_tolerance = 0);
  /// Maximum Euclidean distance; minimum cosine similarity; minimum ratios in decibels. Defaults as in `assay
  /// run`: 1e-5, 0.997, 30, 20. Without `check_shapes` outputs of different shapes
  /// are permuted or reshaped.
  static CompareFunc l2(const ByOutput<Number>& threshold = {}, bool check_shapes = true);
  static CompareFunc cosine_similarity(const ByOutput<Number>& threshold = {}, bool check_shapes = true);
  static CompareFunc psnr(const ByOutput<Number>& threshold = {}, bool check_shapes = true);
  static CompareFunc snr(const ByOutput<Number>& threshold = {}, bool check_shapes = true);
  /// LPIPS, a learned perceptual distance of images, computed by the packages torch and lpips of the user's
  /// interpreter; default threshold: 0.1.
  static CompareFunc perceptual_metrics(const ByOutput<Number>& threshold = {}, bool check_shapes = true);
  /// FILE[:FUNCTION], as --compare-func-script takes it: a function of a script in Python or C++. Throws
  /// Error for a file that does not exist or is in another language.
  static CompareFunc script(const std::string& file_and_function);
  /// A custom function that returns whether two outputs of that name agree.
  static CompareFunc custom(
      std::string name, std::function<bool(const std::string& output, const Tensor&, const Tensor&)> compare);

  const std::shared_ptr<const Comparison>& function() const { return function_; }
  /// FILE:FUNCTION of script(); empty for the others.
  const std::string& reference() const { return reference_; }

 private:
  explicit CompareFunc(std::shared_ptr<const Comparison> function, std::string reference = {})
      : function_(std::move(function)), reference_(std::move(reference)) {}
  std::shared_ptr<const Comparison> function_;
  std::string reference_;
};

/// Post-processing of outputs before they are compared.
class PostprocessFunc {
 public:
  /// The indices of the k largest elements along an axis, of the outputs that are named (as ByOutput does),
  /// "" for all others.
  static PostprocessFunc top_k(std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> k_and_axis);
  static PostprocessFunc top_k(int64_t k = 10, int64_t axis = -1) { return top_k({{"", {k, axis}}}); }
  /// FILE[:FUNCTION], as --postprocess-func-script takes it. Throws Error as CompareFunc::script().
  static PostprocessFunc script(const std::string& file_and_function);
  static PostprocessFunc custom(std::function<IterationResult(IterationResult)> change);
  /// Throws Error that names the output.
  IterationResult operator()(IterationResult result) const;

  const std::shared_ptr<const Postprocess>& function() const { return function_; }
  /// FILE:FUNCTION of script(); empty for the others.
  const std::string& reference() const { return reference_; }

 private:
  explicit PostprocessFunc(std::shared_ptr<const Postprocess> function, std::string reference = {})
      : function_(std::move(function)), reference_(std::move(reference)) {}
  std::shared_ptr<const Postprocess> function_;
  std::string reference_;
};

class Comparator {
 public:
  struct RunOptions {
    DataSource data = data_source(DataLoader());
    int64_t warm_up = 0;  ///< untimed warm-up runs of each runner
    std::string save_inputs_path = {};
    /// Called with each result as it arrives; if it returns false, the result is discarded.
    std::function<bool(const IterationResult&)> keep = {};
  };
  /// Every runner on the same data, one runner after the other. Throws Error.
  static RunResults run(const std::vector<BaseRunner*>& runners, const RunOptions& options);
  static RunResults run(const std::vector<BaseRunner*>& runners) { return run(runners, RunOptions()); }

  struct CompareOptions {
    std::vector<CompareFunc> compare_funcs = {CompareFunc::simple()};
    bool fail_fast = false;
    /// The pairs of runners, by index in the results; empty: each with the next.
    std::vector<std::pair<size_t, size_t>> comparisons = {};
    bool logs = false;  ///< in Polygraphy's format
  };
  /// Throws Error.
  static AccuracyResult compare_accuracy(const RunResults& results, const CompareOptions& options);
  static AccuracyResult compare_accuracy(const RunResults& results) {
    return compare_accuracy(results, CompareOptions());
  }

  static RunResults postprocess(RunResults results, const PostprocessFunc& function);

  /// Names of outputs with NaN or infinity, RUNNER/ITERATION/OUTPUT each.
  static std::vector<std::string> validate(const RunResults& results, bool check_inf = true,
                                           bool check_nan = true);

  /// Judges the results against the float64 reference, as `assay run --ref` does, once for each iteration.
  /// `data` must be the source that the results were computed from.
  static std::vector<Arbitration> arbitrate(const std::shared_ptr<const Model>& model,
                                            const RunResults& results, const DataSource& data);
};

}  // namespace poly
}  // namespace assay
