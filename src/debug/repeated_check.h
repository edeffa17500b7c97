// A check that is made several times on each candidate, because it may flip.
#pragma once

#include <memory>
#include <vector>

#include "debug/observer.h"

namespace assay::debug {

/// The answer of a candidate whose check was repeated: that of all runs, or flaky with the failure of one of
/// them, the sought one if it is there, and how many failed.
Answer merged_answer(const std::vector<Answer>& runs);

/// Repeats another check `runs` times. Where the sought failure comes and goes, a candidate whose runs all
/// pass is checked further, until a failure as rare as the sought one would have been missed in one of a
/// hundred cases; one failure is enough then.
class RepeatedCheck final : public Check {
 public:
  RepeatedCheck(std::unique_ptr<Check> check, int runs);

  Answer check(const std::string& candidate, SearchObserver& observer) override;
  std::unique_ptr<CheckRun> begin(const CheckFiles& files) override;
  void require_own_files(const CheckFiles& files) const override { check_->require_own_files(files); }
  bool looks_for_failures() const override { return check_->looks_for_failures(); }
  std::string failure() const override { return check_->failure(); }
  void look_for(const std::string& failure) override { check_->look_for(failure); }
  void look_for_rate(int failed_runs, int runs) override;

  /// Whether these answers say enough.
  bool is_enough(const std::vector<Answer>& answers) const;

 private:
  std::unique_ptr<Check> check_;
  size_t runs_;
  size_t most_runs_;      ///< while all pass
  bool is_rare_ = false;  ///< the sought failure comes and goes
};

}  // namespace assay::debug
