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

/// A candidate as a plan of one step, ready to run.
struct MeasuredCosts::Subject {
  Plan plan;
  std::unique_ptr<MemoryBlock> memory;
  std::unique_ptr<Kernel> kernel;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* scratch = nullptr;
  std::vector<std::pair<const void*, size_t>> weights, activations;
  std::vector<double> samples;
  bool failed = false;

  std::string name, purpose;  ///< of a trace
  void run(const Target& target, bool cold) {
    const trace::Span span(trace::Kind::kTactic, name, purpose);
    for (const auto& [data, bytes] : weights) cold ? target.flush(data, bytes) : touch(data, bytes);
    for (const auto& [data, bytes] : activations) touch(data, bytes);
    const double start = target.seconds();
    failed = kernel->run({inputs, outputs, scratch}) != Status::kOk || failed;
    samples.push_back(target.seconds() - start);
  }
  double best() const { return *std::min_element(samples.begin(), samples.end()); }
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

std::vector<double> MeasuredCosts::measure(std::vector<std::unique_ptr<Subject>>& subjects) {
  const PoolScope scope(pool_);
  for (auto& s : subjects) {
    s->run(target_, false);  // pages, and code that is made at the first run
    s->samples.clear();
  }
  const double start = target_.seconds();
  for (int round = 0; round < options_.most_runs; ++round) {
    if (round >= options_.least_runs &&
        target_.seconds() - start > options_.seconds_per_problem * static_cast<double>(subjects.size()))
      break;
    double best = 1e300;
    for (const auto& s : subjects)
      if (!s->samples.empty()) best = std::min(best, s->best());
    for (auto& s : subjects)
      if (round < 2 || s->best() <= kHopeless * best) s->run(target_, options_.cold_weights);
  }
  std::vector<double> seconds;
  for (const auto& s : subjects) seconds.push_back(s->failed ? kFailedSeconds : lower_quartile(s->samples));
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
  const std::vector<double> seconds = measure(subjects);
  for (size_t i = 0; i < unknown.size(); ++i) {
    cache_.set(unknown[i].second, seconds[i]);
    unknown[i].first->seconds = *cache_.find(unknown[i].second);
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
  cache_.set(problem, measure(subjects)[0]);
  return *cache_.find(problem);
}

}  // namespace assay::engine
