// A run in the lines of one screen: what ran, how far the results are apart, who is wrong.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "console/run_tables.h"
#include "console/text_renderer.h"
#include "console/verdict_text.h"

namespace assay {

/// Prints a run when it has ended, or, with details, upstream's lines while it proceeds; in both cases it
/// collects the tables.
class RunSummary : public TextRenderer {
 public:
  struct Options {
    bool details = false;      ///< upstream's lines, and no summary
    bool all_outputs = false;  ///< every row of every table
    std::shared_ptr<ErrorPictures> pictures = {};
  };
  explicit RunSummary(Options options) : TextRenderer(options.pictures), options_(std::move(options)) {}

  /// Call it with the result of the run.
  void finish(const RunReport& report) const;
  /// Call it when an error has ended the run: what the other runners gave may have been judged.
  void finish_after_error() const;
  const RunTables& tables() const { return collector_.tables(); }
  /// The runner that computes, where its lines do not say so; empty: none.
  const std::string& running() const { return running_; }

  void refuse_unknown_outputs() { comparison_.refuse_unknown_outputs(); }

  bool wants_values() const override { return options_.details && TextRenderer::wants_values(); }
  void on_runner_begin(const std::string& runner) override;
  void on_warm_up(const std::string& runner, int64_t runs, bool done, bool has_data) override;
  void on_inputs(const InputsEvent& e) override;
  void on_outputs(const OutputsEvent& e) override;
  void on_runner_end(const RunnerReport& runner) override;
  void on_postprocess(const std::string& function, bool done) override;
  void on_validation_begin(const std::vector<std::string>& runners) override;
  void on_validation_end(bool valid) override;
  void on_validated(const ValidationResult& result, const Tensor& output, const ValidateOptions& options,
                    int64_t iteration) override;
  void on_summary(const PairSummary& pair, Aggregation aggregation, const std::string& notes) override;
  void on_verdict(const Arbitration& verdict, const ArbiterOptions& options, int64_t iteration) override;
  void on_verdicts(const VerdictCounts& verdicts) override;
  void on_shapes_unchecked() override;
  void on_match(const OutputMatch& match) override;
  void on_output_begin(std::string_view label, const OutputPair& pair) override;
  void on_output_end(const OutputComparison& comparison) override;
  void on_function_end(const FunctionResult& result) override;
  void on_outputs_compared(const OutputPairEnd& end) override;
  void on_pair(const std::string& runner0, const std::string& runner1) override;
  void on_iteration(int64_t index) override;

 private:
  struct Judged {
    Arbitration verdict;
    ArbiterOptions options;
    int64_t iteration;
    bool is_wrong;
  };
  void print_runners(const RunReport& report) const;
  void print_pair(const PairSummary& pair, const RunReport& report, size_t most) const;
  void print_verdicts() const;

  Options options_;
  std::string begun_, running_;
  TableCollector collector_;
  std::string inputs_;                          ///< of the first iteration
  std::map<std::string, std::string> outputs_;  ///< by runner
  std::vector<PairSummary> pairs_;
  std::map<std::string, std::string> notes_;  ///< by pair
  std::optional<Judged> judged_;              ///< the first verdict, or the first one that is wrong
  std::optional<VerdictCounts> counts_;
  std::string label_;  ///< of the function that compares
  int64_t validated_ = 0, invalid_ = 0;
};

/// Why a run failed, in a sentence; empty if the results do not say it.
std::string failure_sentence(const RunReport& report, const RunTables& tables);

}  // namespace assay
