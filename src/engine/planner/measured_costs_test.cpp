#include "engine/planner/measured_costs.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace assay::engine::measured_costs_test {
namespace {

/// Candidates with known times, on a machine where other processes take some of the runs' time.
class Machine {
 public:
  explicit Machine(std::vector<double> seconds) : seconds_(std::move(seconds)), runs_(seconds_.size()) {}

  /// From now on so many of a hundred runs take `times` as long.
  void disturb(int percent, double times) { percent_ = percent, times_ = times; }
  Competition hold(const TimingOptions& options = {}) {
    Competition c(
        seconds_.size(), [&](size_t i) { return run(i); }, [&] { return now_; });
    c.hold(options);
    return c;
  }
  size_t runs(size_t i) const { return runs_[i]; }

 private:
  double run(size_t i) {
    ++runs_[i];
    const bool is_disturbed = static_cast<int>(random_() % 100) < percent_;
    const double seconds = seconds_[i] * (is_disturbed ? times_ : 1);
    now_ += seconds;
    return seconds;
  }

  std::vector<double> seconds_;
  std::vector<size_t> runs_;
  std::mt19937 random_{7};
  int percent_ = 0;
  double times_ = 1, now_ = 0;
};

TEST(Competition, OnAQuietMachineNothingIsRepeated) {
  Machine machine({1e-4, 1.02e-4, 3e-4});
  const Competition c = machine.hold();
  EXPECT_EQ(c.noise(), 0);
  EXPECT_DOUBLE_EQ(c.seconds(1), 1.02e-4);
  EXPECT_EQ(machine.runs(0), TimingOptions().most_runs);
  EXPECT_EQ(machine.runs(2), 2U) << "it is out of the question";
}

TEST(Competition, ADisturbedMachineRepeatsWhatIsClose) {
  for (const int percent : {50, 80}) {
    Machine machine({1.06e-4, 1e-4, 1.3e-4});
    machine.disturb(percent, 16);
    const Competition c = machine.hold();
    EXPECT_DOUBLE_EQ(c.seconds(0), 1.06e-4) << percent;
    EXPECT_DOUBLE_EQ(c.seconds(1), 1e-4) << percent;
    if (percent == 50) continue;  // more than a quarter of the runs tell
    EXPECT_GT(machine.runs(1), static_cast<size_t>(TimingOptions().most_runs));
    EXPECT_GT(c.noise(), 0.04);
  }
}

TEST(Competition, RepeatsNoLongerThanItMay) {
  Machine machine({0.02, 0.02});
  machine.disturb(90, 3);
  const TimingOptions options;
  machine.hold(options);
  EXPECT_LE(machine.runs(0), 12U) << "runs of up to 60 ms, within a quarter of a second";
  EXPECT_GE(machine.runs(0), static_cast<size_t>(options.least_runs));
}

TEST(Competition, OneCandidateAloneIsMeasuredAsWell) {
  Machine machine({2e-5});
  machine.disturb(85, 16);
  EXPECT_DOUBLE_EQ(machine.hold().seconds(0), 2e-5);
}

}  // namespace
}  // namespace assay::engine::measured_costs_test
