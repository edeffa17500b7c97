// A backend that is run step by step.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "assay/backend.h"
#include "backends/plan_counter.h"
#include "generate/sequence.h"

namespace assay::generate {

class Stepper {
 public:
  /// `backend` is what errors call it. Throws Error for a session that is none of a model that generates.
  Stepper(std::string backend, std::shared_ptr<Session> session, const InterfaceNames& names);

  const std::shared_ptr<const Interface>& interface() const { return interface_; }
  const TokenSequence& sequence() const { return sequence_; }

  /// A new sequence, of the prompt with this number.
  void begin(size_t prompt);

  struct Step {
    Tensor logits;       ///< of the last token, [vocabulary]
    double seconds = 0;  ///< that the backend ran
    BuiltPlans plans;    ///< that the backend has built for it, where it counts them
  };
  /// Feeds tokens, as many as a step takes (TokenSequence::parts), and takes the cache. Throws Error.
  Step run(std::span<const int64_t> part);
  /// Of the step that chooses the generated token `index`, for errors.
  std::string place(size_t index) const;

 private:
  std::string backend_;
  std::shared_ptr<Session> session_;
  std::shared_ptr<const Interface> interface_;
  TokenSequence sequence_;
  size_t prompt_ = 0;
};

/// Nothing for a session that builds none while it runs.
std::optional<BuiltPlans> plans_of(const Session& session);

}  // namespace assay::generate
