// Comparisons as lines of the log, in upstream's words.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "compare/comparison.h"
#include "compare/pictures.h"
#include "compare/postprocess.h"
#include "compare/results.h"
#include "compare/validate.h"

namespace assay {

/// Prints the results of comparison functions.
class ComparisonText : public CompareObserver {
 public:
  /// `pictures` may be null.
  explicit ComparisonText(std::shared_ptr<ErrorPictures> pictures = nullptr)
      : pictures_(std::move(pictures)) {}
  /// Names of outputs that match nothing are an error from now on, not a warning.
  void refuse_unknown_outputs() { refuses_unknown_ = true; }
  /// Draws the errors, if there are pictures to draw.
  void draw(const OutputComparison& comparison) const;
  void on_unknown_outputs(const UnknownOutputs& found) override;
  void on_shapes_unchecked() override;
  void on_match(const OutputMatch& match) override;
  void on_output_begin(std::string_view label, const OutputPair& pair) override;
  void on_output_end(const OutputComparison& comparison) override;
  void on_function_end(const FunctionResult& result) override;
  void on_outputs_compared(const OutputPairEnd& end) override;
  void on_pair(const std::string& runner0, const std::string& runner1) override;
  void on_iteration(int64_t index) override;

 private:
  void print_simple(const OutputComparison& c) const;
  void print_errors(const OutputComparison& c, const SimpleThreshold& threshold) const;
  void draw_errors(const OutputComparison& c) const;
  void draw_heatmap(const OutputComparison& c, const char* kind) const;

  std::shared_ptr<ErrorPictures> pictures_;
  bool refuses_unknown_ = false;
  int level_ = 0;  ///< 1 below an iteration's line
};

/// True when a passing output without a metric gets a line of its own: at the end of a run, but not when
/// saved results are examined.
enum class Passing : uint8_t { kLeftOut, kNamed };
/// `Accuracy Summary | A vs. B | ...`, with `notes` at the end; for kAverage with a line per output and
/// metric. Throws Error as average_passes() does.
void print_summary(const PairSummary& pair, Aggregation aggregation, const std::string& notes = {},
                   Passing passing = Passing::kLeftOut);

/// One validated output; a negative `iteration` is omitted.
void print_validation(const ValidationResult& result, const Tensor& output, const ValidateOptions& options,
                      int64_t iteration);

}  // namespace assay
