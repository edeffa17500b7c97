// Evaluations over data sets: backends against labels, against a golden backend or against float64, in shards
// whose results merge to the same bytes (docs/guide/evaluating.md).
//
//   EvaluationSettings settings;
//   settings.run.model.path = "model.onnx";
//   settings.run.runners = {{.backend = "onnxrt"}, {.backend = "engine"}};
//   settings.data = "digits.npz";
//   settings.labels = "labels";
//   std::string result = poly::evaluate(settings);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/run_settings.h"

namespace ASSAY_API assay {
namespace poly {

struct EvaluationSettings {
  /// Model, runners, session and engine. Its data are those of the evaluation unless `data` or `tokens` is
  /// set.
  RunSettings run = {};
  /// A folder of samples, `.npz`, `.npy`, `.json` (saved inputs) or a data loader script.
  std::string data = {};
  /// A file of tokens, for language models, and names that its interface does not tell (ROLE=NAME).
  std::string tokens = {};
  std::vector<std::string> interface = {};
  /// A file (`.npy`, or text with a sample a line), or the name of an array of the data; empty: none.
  std::string labels = {};
  /// NAME or NAME:OUTPUT; empty: by what there is to compare with.
  std::vector<std::string> metrics = {};
  /// FILE.py[:FUNCTION] each.
  std::vector<std::string> metric_scripts = {};
  /// The backend that others are compared with (empty: the first), or float64 in its place.
  std::string golden = {};
  bool exact = false;
  int64_t worst = 10;           ///< samples in each ranking
  int64_t judge = 0;            ///< of each ranking, those that the float64 reference judges
  std::string save_worst = {};  ///< folder for the inputs of ranked samples
  std::optional<int64_t> most_samples = {};
  std::string shard = {};  ///< I/N; empty: all
  std::string only = {};   ///< FIRST:END[,FIRST:END...], in place of a shard
  /// The samples are a piece of a stream: its first one has this number, and what follows them is not known.
  /// merge_evaluation_texts() takes the number of all.
  std::optional<int64_t> first_sample = {};
  bool skip_bad_samples = false;
  bool timing = false;
  double loader_timeout = 0;  ///< seconds for one sample of a script; 0: any
  std::string output = {};    ///< path of the result; empty: it is not saved
  bool resume = false;
  double checkpoint_seconds = 10;
  /// Identifies run.data.source.
  std::vector<std::pair<std::string, std::string>> data_identity = {};
  /// Further settings that determine the results.
  std::vector<std::pair<std::string, std::string>> identity = {};
  /// Called between samples; an exception ends the evaluation, and what is finished stays saved.
  std::function<void()> on_step = {};
};

/// Returns the result as JSON (docs/reference/formats.md), and saves it. Throws Error for what ends it.
std::string evaluate(const EvaluationSettings& settings);

/// Parts of one evaluation, one after the other in one process: models, backends and scripts are opened for
/// the first one and stay open. A part that fails closes them, and the next one opens them again. Not
/// thread-safe.
class EvaluationParts {
 public:
  /// A shard, and the file of the result, count for nothing here.
  explicit EvaluationParts(EvaluationSettings settings);
  ~EvaluationParts();
  EvaluationParts(const EvaluationParts&) = delete;
  EvaluationParts& operator=(const EvaluationParts&) = delete;

  /// Evaluates the samples FIRST:END[,FIRST:END...]. Returns and throws as evaluate().
  std::string evaluate(const std::string& samples);
  /// Evaluates a piece of a stream, whose first sample has this number.
  std::string evaluate(const DataSource& source, int64_t first_sample);

 private:
  struct Open;
  std::string evaluate();
  EvaluationSettings settings_;
  std::unique_ptr<Open> open_;
};

/// Merges results, in any order, and returns the JSON; an empty `output`: it is not saved. Throws Error for
/// damaged files, those of other evaluations, overlapping ones and, unless `incomplete`, where samples are
/// missing.
std::string merge_evaluations(const std::vector<std::string>& paths, const std::string& output,
                              bool incomplete = false);
/// The same for the JSON itself. `samples`: of the whole set, where the results are of pieces of a stream.
/// `metric_scripts`: those of the evaluation that measure the whole set.
std::string merge_evaluation_texts(const std::vector<std::string>& results, bool incomplete = false,
                                   std::optional<int64_t> samples = {},
                                   const std::vector<std::string>& metric_scripts = {});

/// How many samples the settings name; nothing for a stream, which has to be read for that. Throws Error for
/// data that cannot be opened.
std::optional<int64_t> count_samples(const EvaluationSettings& settings);
/// A result with one more bad sample, which it must not cover yet: one that no process survives.
std::string leave_out_sample(const std::string& result, int64_t sample, const std::string& reason);

}  // namespace poly
}  // namespace assay
