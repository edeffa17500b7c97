#include "debug/repeated_check.h"

#include <algorithm>
#include <cmath>

#include "assay/error.h"

namespace assay::debug {
namespace {

/// Makes one run after the other, beside other checks.
class RepeatedRun final : public CheckRun {
 public:
  RepeatedRun(const RepeatedCheck& policy, Check& check, CheckFiles files)
      : policy_(policy), check_(check), files_(std::move(files)), run_(check_.begin(files_)) {}

  void watch(std::vector<pollfd>& fds) const override { run_->watch(fds); }
  bool advance() override {
    if (has_ended_ || !run_->advance()) return has_ended_;
    ended_.push_back(std::move(run_));
    std::vector<Answer> answers;
    for (const auto& run : ended_) answers.push_back(run->answer());
    has_ended_ = policy_.is_enough(answers);
    if (has_ended_) return true;
    run_ = ended_.back()->again();
    if (run_ == nullptr) run_ = check_.begin(files_);
    return false;
  }
  Answer answer() override {
    std::vector<Answer> answers;
    for (const auto& run : ended_) answers.push_back(run->answer());
    return merged_answer(answers);
  }
  void tell(SearchObserver& observer, const Answer&) override {
    for (const auto& run : ended_) run->tell(observer, run->answer());
  }

 private:
  const RepeatedCheck& policy_;
  Check& check_;
  CheckFiles files_;
  std::unique_ptr<CheckRun> run_;
  std::vector<std::unique_ptr<CheckRun>> ended_;
  bool has_ended_ = false;
};

}  // namespace

Answer merged_answer(const std::vector<Answer>& runs) {
  Answer merged;
  const Answer* worst = nullptr;
  for (const Answer& run : runs) {
    merged.seconds += run.seconds;
    if (run.passed()) continue;
    ++merged.failed_runs;
    if (worst == nullptr || (worst->kind != AnswerKind::kFailure && run.kind == AnswerKind::kFailure))
      worst = &run;
  }
  merged.runs = static_cast<int>(runs.size());
  if (worst == nullptr) return merged;
  const bool is_same =
      std::all_of(runs.begin(), runs.end(), [&](const Answer& a) { return a.kind == worst->kind; });
  merged.kind = is_same ? worst->kind : AnswerKind::kFlaky;
  merged.failure = worst->failure;
  return merged;
}

RepeatedCheck::RepeatedCheck(std::unique_ptr<Check> check, int runs)
    : check_(std::move(check)), runs_(static_cast<size_t>(runs)), most_runs_(runs_) {
  require(runs >= 1, ErrorCode::kInvalidArgument, "a check cannot be made {} times", runs);
}

void RepeatedCheck::look_for_rate(int failed_runs, int runs) {
  if (failed_runs <= 0 || failed_runs >= runs) return;
  constexpr double kMissed = 0.01;
  const double passes = 1 - static_cast<double>(failed_runs) / runs;
  most_runs_ = std::max(runs_, static_cast<size_t>(std::ceil(std::log(kMissed) / std::log(passes))));
  is_rare_ = true;
}

bool RepeatedCheck::is_enough(const std::vector<Answer>& answers) const {
  const bool all_pass =
      std::all_of(answers.begin(), answers.end(), [](const Answer& a) { return a.passed(); });
  if (is_rare_ && std::any_of(answers.begin(), answers.end(),
                              [](const Answer& a) { return a.kind == AnswerKind::kFailure; }))
    return true;
  return answers.size() >= (all_pass ? most_runs_ : runs_);
}

Answer RepeatedCheck::check(const std::string& candidate, SearchObserver& observer) {
  std::vector<Answer> answers;
  while (!is_enough(answers)) answers.push_back(check_->check(candidate, observer));
  return merged_answer(answers);
}

std::unique_ptr<CheckRun> RepeatedCheck::begin(const CheckFiles& files) {
  return std::make_unique<RepeatedRun>(*this, *check_, files);
}

}  // namespace assay::debug
