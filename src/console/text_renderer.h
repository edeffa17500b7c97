// A run as lines of the log, in upstream's words.
#pragma once

#include <memory>

#include "console/comparison_text.h"
#include "run/observer.h"

namespace assay {

/// Prints a run as it proceeds. ComparisonText prints the comparisons.
class TextRenderer : public RunObserver {
 public:
  /// `pictures` may be null.
  explicit TextRenderer(std::shared_ptr<ErrorPictures> pictures = nullptr)
      : comparison_(std::move(pictures)) {}

  bool wants_values() const override;
  void on_runner_begin(const std::string& runner) override;
  void on_warm_up(const std::string& runner, int64_t runs, bool done, bool has_data) override;
  void on_inputs(const InputsEvent& e) override;
  void on_outputs(const OutputsEvent& e) override;
  void on_runner_end(const RunnerReport& runner) override;
  void on_saving(const SavingEvent& e) override;
  void on_postprocess(const std::string& function, bool done) override;
  void on_validation_begin(const std::vector<std::string>& runners) override;
  void on_validation_end(bool valid) override;
  void on_validated(const ValidationResult& result, const Tensor& output, const ValidateOptions& options,
                    int64_t iteration) override;
  void on_different_lengths(const LengthsEvent& e) override;
  void on_summary(const PairSummary& pair, Aggregation aggregation, const std::string& notes) override;
  void on_verdict(const Arbitration& verdict, const ArbiterOptions& options, int64_t iteration) override;
  void on_verdicts(const VerdictCounts& verdicts) override;

  void on_unknown_outputs(const UnknownOutputs& e) override { comparison_.on_unknown_outputs(e); }
  void on_shapes_unchecked() override { comparison_.on_shapes_unchecked(); }
  void on_match(const OutputMatch& e) override { comparison_.on_match(e); }
  void on_output_begin(std::string_view label, const OutputPair& e) override {
    comparison_.on_output_begin(label, e);
  }
  void on_output_end(const OutputComparison& e) override { comparison_.on_output_end(e); }
  void on_function_end(const FunctionResult& e) override { comparison_.on_function_end(e); }
  void on_outputs_compared(const OutputPairEnd& e) override { comparison_.on_outputs_compared(e); }
  void on_pair(const std::string& runner0, const std::string& runner1) override {
    comparison_.on_pair(runner0, runner1);
  }
  void on_iteration(int64_t index) override { comparison_.on_iteration(index); }

 protected:
  /// A single iteration has already printed everything.
  static void print_verdict_counts(const VerdictCounts& verdicts);

  ComparisonText comparison_;
};

}  // namespace assay
