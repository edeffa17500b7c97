#include "eval/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "assay/interrupt.h"
#include "assay/version.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "base/sha1.h"
#include "base/wording.h"
#include "eval/backend_rows.h"
#include "eval/worst_samples.h"
#include "run/coerce_inputs.h"

namespace assay::eval {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kNoPlaces = 0;

/// An Error that is about one sample, not about the machine or the program.
bool is_of_sample(const Error& e) {
  return e.code() == ErrorCode::kInvalidArgument || e.code() == ErrorCode::kInvalidModel ||
         e.code() == ErrorCode::kUnsupported || e.code() == ErrorCode::kNotFound;
}

class Evaluator {
 public:
  Evaluator(const EvalOptions& options, EvalObserver& observer, OpenBackends& open)
      : options_(options),
        observer_(observer),
        open_(open),
        backends_(opened(open, options)),
        inputs_(backends_->inputs()),
        kept_places_(options.save_worst.empty() ? options.judged_worst : options.worst),
        worst_(*options.samples, kept_places_) {}

  Evaluation run() {
    options_.samples->begin(inputs_, backends_->outputs());
    result_.identity = identity();
    result_.rows = backends_->rows();
    result_.worst = options_.worst;
    result_.judged_worst = options_.judged_worst;
    if (options_.measures_times)
      for (const std::string& name : backends_->names()) result_.times.push_back({name, {}});
    choose_work();
    if (keeps_unfinished()) take_up_unfinished();
    observer_.on_begin(result_, result_.covered.count());
    try {
      result_.samples&& options_.samples->size() ? evaluate_counted() : evaluate_stream();
      result_.measure_sets(options_.functions);
    } catch (...) {
      save_unfinished();
      throw;
    }
    finish();
    return std::move(result_);
  }

 private:
  static std::unique_ptr<BackendRows>& opened(OpenBackends& open, const EvalOptions& options) {
    if (open.rows == nullptr) open.rows = std::make_unique<BackendRows>(options);
    if (open.model_digest.empty()) open.model_digest = model_digest(options.run.model);
    return open.rows;
  }

  Identity identity() const {
    Entries data = options_.samples->identity();
    if (options_.labels)
      data.emplace_back("labels", options_.labels->digest());
    else if (!options_.label_array.empty())
      data.emplace_back("labels", "array " + options_.label_array);
    Entries options = {{"backends", fmt::format("{}", fmt::join(backends_->names(), " "))},
                       {"golden", backends_->golden_name()},
                       {"metric", fmt::format("{}", fmt::join(backends_->metric_texts(), ","))},
                       {"worst", std::to_string(options_.worst)},
                       {"judge", std::to_string(options_.judged_worst)}};
    if (options_.most_samples) options.emplace_back("samples", std::to_string(*options_.most_samples));
    options.insert(options.end(), options_.identity.begin(), options_.identity.end());
    return {.version = kVersion,
            .model_name = fs::path(options_.run.model.path).filename().string(),
            .model_digest = open_.model_digest,
            .data = std::move(data),
            .options = std::move(options)};
  }

  /// Of a counted set: the samples that are this process's.
  void choose_work() {
    const std::optional<int64_t> size = options_.samples->size();
    if (!size) return;
    if (options_.labels)
      require(options_.labels->size() == *size, ErrorCode::kInvalidArgument,
              "there are {} samples and labels for {}", *size, options_.labels->size());
    result_.samples = std::min(*size, options_.most_samples.value_or(*size));
    require(*result_.samples > 0, ErrorCode::kInvalidArgument, "there are no samples");
    work_ = options_.only ? *options_.only : options_.shard.of(*result_.samples);
    if (const Ranges beyond = work_.without(Ranges(0, *result_.samples)); !beyond.empty())
      fail(ErrorCode::kInvalidArgument, "there are {} samples, and none of {}", *result_.samples,
           beyond.text());
  }

  bool is_own(int64_t sample) const {
    return options_.only ? options_.only->contains(sample) : options_.shard.has(sample);
  }

  /// Nothing is kept next to a device or a pipe.
  bool keeps_unfinished() const {
    std::error_code ec;
    const fs::file_status status = fs::status(options_.saving.path, ec);
    return !options_.saving.path.empty() && (!fs::exists(status) || fs::is_regular_file(status));
  }

  /// Continues from the samples that an interrupted evaluation has finished, or from a complete one.
  void take_up_unfinished() {
    const std::string unfinished = unfinished_path(options_.saving.path);
    std::error_code ec;
    if (!options_.saving.resume && fs::exists(unfinished, ec)) {
      Error e(ErrorCode::kInvalidArgument,
              fmt::format("{} has what an interrupted evaluation has finished", unfinished));
      throw set_remedy(e, Say::kResumeEvaluation, {unfinished});
    }
    if (!options_.saving.resume) return;
    for (const std::string& path : {unfinished, options_.saving.path})
      if (fs::exists(path, ec)) return take_up(path);
  }

  void take_up(const std::string& path) {
    Evaluation finished = load_evaluation(path);
    if (const std::string d = difference(finished.identity, result_.identity); !d.empty())
      fail(ErrorCode::kInvalidArgument, "{} is of another evaluation: {}", path, d);
    const Ranges foreign = options_.samples->size() ? finished.covered.without(work_) : Ranges();
    require(foreign.empty(), ErrorCode::kInvalidArgument, "{} is of another shard: it has the samples {}",
            path, foreign.text());
    const std::optional<int64_t> samples = result_.samples;
    result_ = std::move(finished);
    if (!result_.samples) result_.samples = samples;
  }

  void evaluate_counted() {
    const Ranges left = work_.without(result_.covered);
    total_ = work_.count();
    for (const Range& r : left.list())
      for (int64_t i = r.first; i < r.end; ++i)
        take(i, std::nullopt, [&] { return options_.samples->load(i); });
  }

  void evaluate_stream() {
    const int64_t first = options_.first_sample;
    const int64_t most = options_.most_samples.value_or(INT64_MAX);
    const int64_t end = options_.only ? options_.only->list().back().end : INT64_MAX;
    const Ranges before = result_.covered;
    const uint64_t content_before = result_.content;
    uint64_t read = 0, read_before = 0;
    int64_t index = first;
    for (; index < most && index < end; ++index) {
      std::optional<Sample> sample = next_of_stream(index);
      if (!sample) break;
      sample->index = index;
      const uint64_t digest = digest_of(*sample);
      read += digest;
      if (before.contains(index)) {
        read_before += digest;
        keep_ranked(*sample);
      } else if (is_own(index)) {
        take(index, digest, [&] { return std::move(*sample); });
      }
    }
    require(index > first, ErrorCode::kInvalidArgument, "there are no samples");
    require(
        before.empty() || index < before.list().back().end || read_before == content_before,
        ErrorCode::kInvalidArgument,
        "the loader gives other samples, or in another order, than those that are finished: their digest is "
        "{:016x}, and was {:016x}",
        read_before, content_before);
    if (!options_.is_piece && (index < end || index == most)) end_stream(index, read);
  }

  /// A stream's end was reached.
  void end_stream(int64_t samples, uint64_t read) {
    result_.samples = samples;
    result_.stream = read;
    if (result_.is_complete()) result_.take_for_whole();
  }

  /// Of a sample's number, arrays and labels.
  static uint64_t digest_of(const Sample& sample) {
    return hash_of(
        fmt::format("{} {} {}", sample.index, fingerprint_of(sample.tensors), fmt::join(sample.labels, ",")));
  }

  std::optional<Sample> next_of_stream(int64_t index) {
    return with_context([&] { return fmt::format("before sample {}", index); },
                        [&] { return options_.samples->next(); });
  }

  /// One that an interrupted evaluation has measured.
  void keep_ranked(const Sample& sample) {
    if (kept_places_ == kNoPlaces || sample.steps != nullptr) return;
    if (result_.ranked(kept_places_).contains(sample.index))
      worst_.offer(result_, sample, feed_of(sample, inputs_));
  }

  /// `digest`: of the sample, where it is known.
  template <typename Load>
  void take(int64_t index, std::optional<uint64_t> digest, Load&& load) {
    observer_.on_step();
    try {
      Sample sample = load();
      if (!digest) digest = digest_of(sample);
      if (options_.labels) sample.labels = options_.labels->of(sample.index);
      measure(sample);
    } catch (Error& e) {
      if (is_interrupted() || !is_of_sample(e)) throw;
      if (!options_.skips_bad_samples) {
        e.add_context(fmt::format("in sample {}", index));
        if (e.remedy().empty()) set_remedy(e, Say::kSkipBadSamples);
        throw;
      }
      const BadSample bad{index, e.what()};
      observer_.on_bad_sample(bad);
      result_.add_bad(bad);
    }
    result_.covered.add(index, index + 1);
    result_.content += digest.value_or(0);
    after_sample();
  }

  void measure(const Sample& sample) {
    require(sample.steps == nullptr || kept_places_ == kNoPlaces, ErrorCode::kUnsupported,
            "the model takes {} token(s) a step, so that a sample is no set of inputs that could be saved or "
            "judged",
            sample.steps == nullptr ? 0 : sample.steps->step_tokens.value_or(0));
    const std::vector<Tensor> feed =
        sample.steps == nullptr ? feed_of(sample, inputs_) : std::vector<Tensor>();
    backends_->measure(sample, feed);
    // From here on nothing fails: a sample counts in every row or in none.
    const std::vector<Observations>& observations = backends_->observations();
    for (size_t i = 0; i < result_.rows.size(); ++i) {
      Row& row = result_.rows[i];
      for (const double v : observations[i].values) row.tally.add(v);
      if (row.kind == Kind::kSet) row.records[sample.index] = observations[i].record;
      if (is_imperfect(row, observations[i])) row.worst.add(Ranked{sample.index, observations[i].rank});
    }
    for (size_t b = 0; b < result_.times.size(); ++b) result_.times[b].times.add(backends_->seconds()[b]);
    worst_.offer(result_, sample, feed);
  }

  /// Perfect results are not the worst of any.
  bool is_imperfect(const Row& row, const Observations& o) const {
    if (o.values.empty()) return false;
    for (const MetricDef& def : metric_defs())
      if (def.name == row.metric || (def.name == "top" && row.metric.starts_with("top")))
        return o.rank != def.perfect;
    return true;
  }

  void after_sample() {
    const Clock::time_point now = Clock::now();
    if (now - told_ >= std::chrono::seconds(1)) {
      told_ = now;
      observer_.on_progress(result_.covered.count(), total_);
    }
    if (now - saved_ < std::chrono::duration<double>(options_.saving.seconds)) return;
    save_unfinished();
    saved_ = Clock::now();
  }

  /// A disk that is full now may have room later: only the result itself must be saved.
  void save_unfinished() noexcept {
    if (!keeps_unfinished() || result_.covered.empty()) return;
    try {
      save_evaluation(result_, unfinished_path(options_.saving.path));
    } catch (const std::exception& e) {
      observer_.on_unsaved(e.what());
    }
  }

  void finish() {
    const bool judges = options_.judged_worst > 0;
    if (!options_.save_worst.empty())
      save_worst(worst_.inputs(result_, options_.worst, inputs_), options_.save_worst);
    if (judges) {
      const auto inputs = worst_.inputs(result_, options_.judged_worst, inputs_);
      backends_ = nullptr;  // they are opened again
      if (!inputs.empty()) {
        observer_.on_judge(static_cast<int64_t>(inputs.size()));
        result_.judged = judge_samples(options_.run, inputs);
      }
    }
    if (options_.saving.path.empty()) return;
    try {
      save_evaluation(result_, options_.saving.path);
    } catch (...) {
      save_unfinished();
      throw;
    }
    std::error_code ec;
    if (keeps_unfinished()) fs::remove(unfinished_path(options_.saving.path), ec);
  }

  const EvalOptions& options_;
  EvalObserver& observer_;
  OpenBackends& open_;
  std::unique_ptr<BackendRows>& backends_;
  std::vector<TensorInfo> inputs_;
  size_t kept_places_;
  WorstSamples worst_;
  Evaluation result_;
  Ranges work_;
  std::optional<int64_t> total_;
  Clock::time_point told_ = Clock::now(), saved_ = told_;
};

/// Adds the bytes of external data to a digest, in the order of the file.
void add_external(const Graph& graph, Sha1& sum) {
  for (const auto& value : graph.values()) {
    const TensorSource* source = value->tensor_source();
    if (source == nullptr || !source->is_external || !value->tensor().defined()) continue;
    sum.update(value->name());
    const UnalignedTensor& t = value->tensor();
    sum.update({static_cast<const char*>(t.data()), t.nbytes()});
  }
}

}  // namespace

std::string unfinished_path(const std::string& path) { return path + ".unfinished"; }

std::string model_digest(const ModelLoaderOptions& options) {
  Sha1 sum;
  sum.update(MappedFile::open(options.path)->bytes());
  if (!options.is_plan && options.foreign_format.empty() && !options.make)
    add_external(*load_model(options.path, options.import)->graph, sum);
  return "sha1:" + sum.digest();
}

OpenBackends::OpenBackends() = default;
OpenBackends::~OpenBackends() = default;

Evaluation evaluate(const EvalOptions& options, EvalObserver& observer) {
  OpenBackends open;
  return evaluate(options, observer, open);
}

Evaluation evaluate(const EvalOptions& options, EvalObserver& observer, OpenBackends& open) {
  return Evaluator(options, observer, open).run();
}

}  // namespace assay::eval
