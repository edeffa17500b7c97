#include "engine/planner/measured_costs.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/time_trace.h"
#include "engine/planner/rehearsal.h"
#include "engine/tactics/move/reorder.h"

namespace assay::engine {
namespace {

/// A candidate that is estimated to take so many times the best one's estimate is not measured.
constexpr double kBeyond = 10;
/// Candidates that take so much longer than the best so far are not run again.
constexpr double kHopeless = 1.5;
/// So many runs are enough to see that, and so many where they differ from each other as much.
constexpr size_t kChances = 2, kChancesWhenDisturbed = 5;
/// Noise of the fastest candidates that does not matter: a little more than one of them must gain on another.
constexpr double kQuiet = 0.04;
/// Candidates that are no more than this slower than the best are among the fastest.
constexpr double kClose = 1.15;

std::string operand_text(const Candidate::Operand& o) {
  if (o.value == nullptr) return o.make ? "constant " + o.key : "-";
  const auto shape = o.value->type.has_shape() ? known_shape(*o.value->type.dims) : std::nullopt;
  const Shape extents = o.value->tensor().defined() ? o.value->tensor().shape() : shape.value_or(Shape());
  return fmt::format("{}{} {}{}", dtype_name(o.value->type.dtype), extents.str(), o.format.str(),
                     o.value->tensor().defined() ? " constant" : "");
}

/// Reads a block into the caches.
void touch(const void* data, size_t bytes) {
  const auto* from = static_cast<const volatile char*>(data);
  for (size_t i = 0; i < bytes; i += 64) (void)from[i];
}

}  // namespace

std::string problem_text(const Candidate& c, const TacticDef& tactic) {
  std::string text = fmt::format("{} {}", tactic.name, tactic.version);
  for (const Candidate::Operand& o : c.inputs) text += " | in " + operand_text(o);
  for (const Candidate::Operand& o : c.outputs) text += " | out " + operand_text(o);
  for (const auto& [name, value] : c.step.parameters.entries()) text += " | " + parameter_text(name, value);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  // The beginning is for people, the hash for the rest.
  const std::string result = c.outputs.empty() ? "" : operand_text(c.outputs[0]);
  return fmt::format("{}{}{} {} {:016x}{:016x}", tactic.name, c.variant.empty() ? "" : ":", c.variant, result,
                     hash.high64, hash.low64);
}

std::string reorder_text(const Value& v, const Shape& shape, Format from, Format to) {
  return fmt::format("reorder {}{} {} to {}", dtype_name(v.type.dtype), shape.str(), from.str(), to.str());
}

std::string reorder_text(const PlanValue& from, const PlanValue& to) {
  return fmt::format("reorder {}{} {} to {}", dtype_name(to.dtype), to.shape.str(), from.layout.str(),
                     to.layout.str());
}

double Samples::least() const { return *std::min_element(seconds_.begin(), seconds_.end()); }

double Samples::usual() const { return lower_quartile(seconds_); }

bool Samples::are_disturbed() const {
  return !empty() && *std::max_element(seconds_.begin(), seconds_.end()) > kHopeless * least();
}

Competition::Competition(size_t count, std::function<double(size_t)> run, std::function<double()> now)
    : samples_(count), run_(std::move(run)), now_(std::move(now)) {}

double Competition::best() const {
  double best = 1e300;
  for (const Samples& s : samples_)
    if (!s.empty()) best = std::min(best, s.least());
  return best;
}

/// Runs every candidate whose shortest time is within `limit` times the best one's, and those that have had
/// fewer runs than `chances`; more than those where the runs of any are disturbed, as all of one may be.
void Competition::run_round(double limit, size_t chances) {
  const double best_so_far = best();
  if (std::any_of(samples_.begin(), samples_.end(), [](const Samples& s) { return s.are_disturbed(); }))
    chances = std::max(chances, kChancesWhenDisturbed);
  for (size_t i = 0; i < samples_.size(); ++i)
    if (Samples& s = samples_[i]; s.size() < chances || s.least() <= limit * best_so_far) s.add(run_(i));
}

double Competition::worst_noise() const {
  const double best_so_far = best();
  double worst = 0;
  for (const Samples& s : samples_)
    if (s.least() <= kClose * best_so_far) worst = std::max(worst, s.noise());
  return worst;
}

void Competition::hold(const TimingOptions& options) {
  const double start = now_(), budget = options.seconds_per_problem * static_cast<double>(samples_.size());
  int round = 0;
  for (; round < options.most_runs; ++round) {
    if (round >= options.least_runs && now_() - start > budget) break;
    run_round(kHopeless, kChances);
  }
  for (; round < options.most_repeats * options.most_runs && worst_noise() > kQuiet; ++round) {
    if (now_() - start > options.most_repeats * budget) break;
    run_round(kClose, 0);
  }
  noise_ = worst_noise();
}

double Competition::seconds(size_t i) const {
  return noise_ > kQuiet ? samples_[i].least() : samples_[i].usual();
}

/// A candidate as a plan of one step, ready to run.
struct MeasuredCosts::Subject {
  Plan plan;
  std::unique_ptr<MemoryBlock> memory;
  std::unique_ptr<Kernel> kernel;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* scratch = nullptr;
  std::vector<std::pair<const void*, size_t>> weights, activations;
  bool failed = false;

  std::string name, purpose;  ///< of a trace
  double run(const Target& target, bool cold) {
    const trace::Span span(trace::Kind::kTactic, name, purpose);
    for (const auto& [data, bytes] : weights) cold ? target.flush(data, bytes) : touch(data, bytes);
    for (const auto& [data, bytes] : activations) touch(data, bytes);
    const double start = target.seconds();
    failed = kernel->run({inputs, outputs, scratch}) != Status::kOk || failed;
    return target.seconds() - start;
  }
};

MeasuredCosts::MeasuredCosts(const Target& target, TimingCache& cache, ConstantCache& constants,
                             std::shared_ptr<ThreadPool> pool, TimingOptions options)
    : target_(target), cache_(cache), constants_(constants), pool_(std::move(pool)), options_(options) {}

std::unique_ptr<MeasuredCosts::Subject> MeasuredCosts::subject_of(const Candidate& c,
                                                                  const TacticDef& tactic) {
  auto subject = std::make_unique<Subject>();
  Plan& plan = subject->plan;
  plan.threads = pool_ != nullptr ? pool_->size() : 1;
  Step step = c.step;
  step.tactic = std::string(tactic.name);
  step.in_place.clear();
  size_t total = 0;
  const auto add = [&](const Candidate::Operand& o) {
    if (o.value == nullptr && !o.make) return -1;
    PlanValue v{.has_shape = true, .layout = o.format.layout};
    Tensor constant;
    if (o.make) {
      constant = constants_.get(o.source, o.key, o.make);
    } else if (o.value->tensor().defined() && o.format.layout.is_row()) {
      constant = o.value->tensor().aligned();
    }
    if (constant.defined()) {
      v.dtype = constant.dtype();
      v.shape = constant.shape();
      v.storage = Storage::kConstant;
      v.slot = static_cast<int32_t>(plan.constants.size());
      plan.constants.push_back({.tensor = constant});
    } else {
      v.dtype = stored_type(o.value, o.format);
      v.shape =
          o.value->tensor().defined() ? o.value->tensor().shape() : known_shape(*o.value->type.dims).value();
      v.storage = Storage::kArena;
      v.offset = static_cast<int64_t>(total);
      total += align_up(v.bytes());
    }
    plan.values.push_back(std::move(v));
    return static_cast<int32_t>(plan.values.size() - 1);
  };
  for (const Candidate::Operand& o : c.inputs) step.inputs.push_back(add(o));
  for (const Candidate::Operand& o : c.outputs) step.outputs.push_back(add(o));
  step.scratch_offset = static_cast<int64_t>(total);
  total += static_cast<size_t>(step.scratch_bytes);
  subject->memory = target_.allocate(total);
  char* const base = subject->memory->data();
  const auto place = [&](int32_t id) -> const void* {
    if (id < 0) return nullptr;
    const PlanValue& v = plan.values[static_cast<size_t>(id)];
    if (v.storage == Storage::kArena) return base + v.offset;
    return plan.constants[static_cast<size_t>(v.slot)].tensor.data();
  };
  for (const int32_t id : step.inputs) {
    subject->inputs.push_back(place(id));
    if (id < 0) continue;
    const PlanValue& v = plan.values[static_cast<size_t>(id)];
    if (v.storage == Storage::kArena) {
      fill_with_activations(base + v.offset, v.dtype, v.bytes());
      subject->activations.emplace_back(base + v.offset, v.bytes());
    } else {
      const Tensor& t = plan.constants[static_cast<size_t>(v.slot)].tensor;
      subject->weights.emplace_back(t.data(), t.nbytes());
    }
  }
  for (const int32_t id : step.outputs) subject->outputs.push_back(const_cast<void*>(place(id)));
  if (step.scratch_bytes > 0) subject->scratch = base + step.scratch_offset;
  plan.steps.push_back(std::move(step));
  subject->kernel = tactic.factory.create(plan, plan.steps[0]);
  return subject;
}

std::vector<double> MeasuredCosts::measure(std::vector<std::unique_ptr<Subject>>& subjects, double& noise) {
  const PoolScope scope(pool_);
  for (auto& s : subjects) s->run(target_, false);  // pages, and code that is made at the first run
  Competition competition(
      subjects.size(), [&](size_t i) { return subjects[i]->run(target_, options_.cold_weights); },
      [&] { return target_.seconds(); });
  competition.hold(options_);
  noise = competition.noise();
  std::vector<double> seconds;
  for (size_t i = 0; i < subjects.size(); ++i)
    seconds.push_back(subjects[i]->failed ? kFailedSeconds : competition.seconds(i));
  return seconds;
}

void MeasuredCosts::rate(std::vector<Option>& options) {
  std::vector<std::unique_ptr<Subject>> subjects;
  std::vector<std::pair<Option*, std::string>> unknown;
  double least = 1e300;
  for (const Option& o : options)
    if (o.candidate.views.empty()) least = std::min(least, o.candidate.estimate);
  for (Option& o : options) {
    o.seconds = o.candidate.views.empty() ? o.candidate.estimate : 0;
    if (!o.candidate.views.empty() || o.tactic->factory.create == nullptr) continue;
    // The plain loops of a library take a second where its kernels take a millisecond: no need to see that.
    if (o.candidate.estimate > kBeyond * least) continue;
    std::string problem = problem_text(o.candidate, *o.tactic);
    if (const auto known = cache_.find(problem)) {
      o.seconds = *known;
      if (const auto it = noise_.find(problem); it != noise_.end()) o.noise = it->second;
      ++found_;
      continue;
    }
    require(!options_.use_only, ErrorCode::kNotFound,
            "the timing cache does not know {}, and nothing is to be measured", problem);
    unknown.emplace_back(&o, std::move(problem));
  }
  if (unknown.empty()) return;
  if (progress) progress(unknown[0].second);
  for (const auto& [option, problem] : unknown) {
    subjects.push_back(subject_of(option->candidate, *option->tactic));
    if (!trace::is_on()) continue;
    subjects.back()->name = problem.substr(0, problem.rfind(' '));  // without the hash
    subjects.back()->purpose = step_name(option->candidate.step);
  }
  double noise = 0;
  const std::vector<double> seconds = measure(subjects, noise);
  for (size_t i = 0; i < unknown.size(); ++i) {
    cache_.set(unknown[i].second, seconds[i]);
    unknown[i].first->seconds = *cache_.find(unknown[i].second);
    unknown[i].first->noise = noise_[unknown[i].second] = noise;
  }
}

double MeasuredCosts::reorder(const Value& v, const Shape& shape, Format from, Format to) {
  double seconds = 0;
  for (const Format& next : reorder_path(v, shape, from, to)) {
    seconds += one_reorder(v, shape, from, next);
    from = next;
  }
  return seconds;
}

double MeasuredCosts::one_reorder(const Value& v, const Shape& shape, Format from, Format to) {
  const std::string problem = reorder_text(v, shape, from, to);
  if (const auto known = cache_.find(problem)) return *known;
  require(!options_.use_only, ErrorCode::kNotFound,
          "the timing cache does not know {}, and nothing is to be measured", problem);
  const ReorderStep step = make_reorder(v, shape, from, to);
  std::vector<std::unique_ptr<Subject>> subjects;
  subjects.push_back(subject_of(step.candidate, *step.tactic));
  double noise = 0;
  cache_.set(problem, measure(subjects, noise)[0]);
  return *cache_.find(problem);
}

}  // namespace assay::engine
