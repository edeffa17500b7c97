// The trials of a proof as lines of the log.
#pragma once

#include "run/equivalence.h"

namespace assay {

class EquivalenceText final : public EquivalenceObserver {
 public:
  void on_trial(int number, const std::string& shapes, std::string_view kind, size_t outputs) override;
  void on_identical() override;
  void on_verdict(const Arbitration& verdict) override;
};

}  // namespace assay
