// Evaluates backends over a data set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "eval/eval_options.h"
#include "eval/evaluation.h"

namespace assay::eval {

class BackendRows;

/// Sees an evaluation as it goes on. By default nothing happens.
class EvalObserver {
 public:
  virtual ~EvalObserver() = default;
  /// `resumed`: how many samples an interrupted evaluation has covered.
  virtual void on_begin(const Evaluation& /*begun*/, int64_t /*resumed*/) {}
  /// About every second. `total` as far as known.
  virtual void on_progress(int64_t /*done*/, std::optional<int64_t> /*total*/) {}
  virtual void on_bad_sample(const BadSample&) {}
  virtual void on_judge(int64_t /*samples*/) {}
  /// The finished samples could not be saved. Must not throw.
  virtual void on_unsaved(const std::string& /*reason*/) {}
  /// Asked between samples; an Error that it throws ends the evaluation.
  virtual void on_step() {}
};

/// Evaluates the part that the options name, and saves it. Throws Error for what ends it, the first bad
/// sample among others unless they are skipped; what was finished stays saved, for Saving::resume.
Evaluation evaluate(const EvalOptions& options, EvalObserver& observer);

/// The parts of an evaluation share this, so that backends are opened once.
struct OpenBackends {
  OpenBackends();
  ~OpenBackends();
  std::unique_ptr<BackendRows> rows;  ///< null: not open yet, or not any more
  std::string model_digest;           ///< empty: not known yet
};
/// The same with backends that `open` keeps, for parts whose options differ in nothing but the samples.
/// After an exception `open` must be given up.
Evaluation evaluate(const EvalOptions& options, EvalObserver& observer, OpenBackends& open);

/// Where what is finished is saved until the result is.
std::string unfinished_path(const std::string& path);
/// The digest of a model's content: of the file, and of external data.
std::string model_digest(const ModelLoaderOptions& model);

}  // namespace assay::eval
