// Who is right: each backend's results against the float64 reference, with the error that rounding explains.
//
// docs/internals/numerics.md describes the model. In short: where a node's inputs are among a runner's
// results, the node is judged on them, by the bounds of its own arithmetic; who is wrong and where it begins
// follows from that alone. Elsewhere noisy evaluations of the network, from the nearest values that are
// known, give for every element the spread that the arithmetic of the declared types explains.
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

/// Of a traceable runner, and so far off that no further noisy evaluations were made for it.
bool is_left_to_a_trace(const ArbiterVerdict& v, std::span<const ArbiterCase> cases);

/// What a second run with every layer marked says of the first one's results: where no node makes an error
/// and the outputs are as far from the exact ones, the network has amplified rounding, and nobody is wrong;
/// where they are right, the error is in what the backend does only when no layer is asked for.
void apply_trace(Arbitration& result, Arbitration traced);

/// The arbitrations of a run's iterations as JSON, written as they come. The file appears whole or not at
/// all; throws Error (kIo).
class VerdictWriter {
 public:
  explicit VerdictWriter(const std::string& path);
  VerdictWriter(VerdictWriter&&) noexcept;
  ~VerdictWriter();
  void add(const Arbitration& iteration);
  /// Completes the file; without it nothing is left behind.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay
