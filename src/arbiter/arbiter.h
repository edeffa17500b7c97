// Arbitration: compares each backend's results with the float64 reference, up to explained rounding errors.
//
// docs/internals/numerics.md describes the model. In short: if a node's inputs are among a runner's results,
// the node is judged on them, by the bounds of its own arithmetic, which is enough to locate the origin of an
// error. Otherwise noisy evaluations of the network, from the nearest known values, give for every element
// the spread that the arithmetic of the declared types explains.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arbiter/judgement.h"
#include "assay/arbiter.h"
#include "assay/graph.h"

namespace assay {

/// `feed` in the order of the model's inputs. Results whose names the model does not know are left out.
/// Throws Error when the reference cannot evaluate the model.
Arbitration arbitrate(const std::shared_ptr<const Model>& model, std::span<const Tensor> feed,
                      std::span<const ArbiterCase> cases, const ArbiterOptions& options = {});

/// True for a traceable runner whose error is so large that no further noisy evaluations were made for it.
bool is_left_to_a_trace(const ArbiterVerdict& v, std::span<const ArbiterCase> cases);

/// Applies a second run with every layer marked to the first one's verdict: if no node is in error and the
/// outputs deviate as much, the network has amplified rounding, and nothing is wrong; if they are right, the
/// error is in optimizations that marking disables.
void apply_trace(Arbitration& result, Arbitration traced);

/// Writes the arbitrations of a run's iterations as JSON, one by one. The file is written atomically; throws
/// Error (kIo).
class VerdictWriter {
 public:
  explicit VerdictWriter(const std::string& path);
  VerdictWriter(VerdictWriter&&) noexcept;
  ~VerdictWriter();
  void add(const Arbitration& iteration);
  /// Completes the file; without it no file is left.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay
