#include "assay/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/peak_memory.h"
#include "base/time_trace.h"
#include "generate/parting.h"
#include "generate/prompts.h"
#include "generate/sampling.h"
#include "generate/stepper.h"
#include "tensor/tensor_store.h"

namespace assay::generate {
namespace {

/// Logits of all steps beyond this are kept in a file.
constexpr size_t kLogitsInMemory = size_t{64} << 20;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Logits by prompt and token.
using KeptLogits = std::vector<std::vector<StoredTensor>>;

/// Generates on one backend.
class Loop {
 public:
  Loop(const Options& options, const std::string& backend, std::shared_ptr<Session> session,
       Observer& observer)
      : options_(options),
        backend_(backend),
        stepper_(backend, std::move(session), options.names),
        observer_(observer) {}

  const Interface& interface() const { return *stepper_.interface(); }

  /// `keep` gets the logits of each token.
  GeneratedSequence run(size_t prompt, const std::function<void(Tensor)>& keep) {
    GeneratedSequence generated{.prompt = options_.prompts[prompt], .tokens = {}};
    stepper_.begin(prompt);
    Sampler sampler(options_.sampling);
    Tokens added = generated.prompt;
    while (static_cast<int64_t>(generated.tokens.size()) < options_.max_tokens && !generated.ended) {
      const GeneratedToken token = with_context([&] { return stepper_.place(generated.tokens.size()); },
                                                [&] { return step(sampler, added, keep); });
      generated.tokens.push_back(token);
      generated.ended =
          std::find(options_.ends.begin(), options_.ends.end(), token.token) != options_.ends.end();
      observer_.on_token(backend_, prompt, token);
      added = {token.token};
    }
    return generated;
  }

 private:
  GeneratedToken step(Sampler& sampler, const Tokens& added, const std::function<void(Tensor)>& keep) {
    const trace::Span span(
        trace::Kind::kRun,
        [&] { return fmt::format("token behind {}", stepper_.sequence().tokens().size()); }, backend_);
    GeneratedToken token;
    Tensor logits;
    for (const auto part : stepper_.sequence().parts(added)) {
      Stepper::Step step = stepper_.run(part);
      token.seconds += step.seconds;
      token.plans += step.plans.whole;
      token.parts += step.plans.parts;
      logits = std::move(step.logits);
    }
    token.token = sampler.next(logits);
    token.positions = static_cast<int64_t>(stepper_.sequence().tokens().size());
    keep(std::move(logits));
    return token;
  }

  const Options& options_;
  const std::string& backend_;
  Stepper stepper_;
  Observer& observer_;
};

class Comparison {
 public:
  Comparison(const Options& options, Observer& observer) : options_(options), observer_(observer) {}

  Agreement compare(const BackendResult& a, const KeptLogits& logits_a, const BackendResult& b,
                    const KeptLogits& logits_b) {
    Agreement agreement{.first = a.name, .second = b.name, .partings = {}};
    for (size_t p = 0; p < a.sequences.size(); ++p) {
      const auto &x = a.sequences[p].tokens, &y = b.sequences[p].tokens;
      for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        const Tensor first = logits_a[p][i].load(), second = logits_b[p][i].load();
        agreement.largest_difference =
            std::max(agreement.largest_difference, largest_difference(first, second));
        if (x[i].token != y[i].token) {
          agreement.partings.push_back(part(a, b, p, i, first, second));
          break;
        }
        ++agreement.equal_tokens;
      }
    }
    return agreement;
  }

 private:
  Parting part(const BackendResult& a, const BackendResult& b, size_t prompt, size_t index,
               const Tensor& first, const Tensor& second) {
    Parting parting = parting_of(
        prompt, index, {.name = a.name, .token = a.sequences[prompt].tokens[index].token, .best = {}}, first,
        {.name = b.name, .token = b.sequences[prompt].tokens[index].token, .best = {}}, second);
    if (options_.model == nullptr) {
      parting.reason = "nothing was to be judged";
      return parting;
    }
    observer_.on_judge(parting);
    Tokens tokens = a.sequences[prompt].prompt;
    for (size_t i = 0; i < index; ++i) tokens.push_back(a.sequences[prompt].tokens[i].token);
    judge(parting, first, second, tokens, options_.model, options_.names);
    return parting;
  }

  const Options& options_;
  Observer& observer_;
};

void check(const Options& options, const std::vector<Participant>& participants) {
  require(!participants.empty(), ErrorCode::kInvalidArgument, "no backend is to generate");
  check_prompts(options.prompts, options.max_tokens);
  check_sampling(options.sampling);
}

std::vector<double> later_seconds(const BackendResult& result) {
  std::vector<double> seconds;
  for (const GeneratedSequence& s : result.sequences)
    for (size_t i = 1; i < s.tokens.size(); ++i) seconds.push_back(s.tokens[i].seconds);
  return seconds;
}

}  // namespace

Tokens GeneratedSequence::all() const {
  Tokens all = prompt;
  for (const GeneratedToken& t : tokens) all.push_back(t.token);
  return all;
}

double BackendResult::first_token_seconds() const {
  return sequences.empty() || sequences.front().tokens.empty() ? 0 : sequences.front().tokens.front().seconds;
}

double BackendResult::tokens_per_second() const {
  const std::vector<double> seconds = later_seconds(*this);
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return sum > 0 ? static_cast<double>(seconds.size()) / sum : 0;
}

double BackendResult::median_step_seconds() const {
  std::vector<double> seconds = later_seconds(*this);
  if (seconds.empty()) return 0;
  const auto middle = seconds.begin() + static_cast<ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

size_t BackendResult::plans() const {
  size_t plans = 0;
  for (const GeneratedSequence& s : sequences)
    for (const GeneratedToken& t : s.tokens) plans += t.plans;
  return plans;
}

size_t BackendResult::late_plans() const {
  size_t plans = 0;
  for (const GeneratedSequence& s : sequences)
    for (size_t i = kSettled; i < s.tokens.size(); ++i) plans += s.tokens[i].plans;
  return plans;
}

size_t BackendResult::part_plans() const {
  size_t plans = 0;
  for (const GeneratedSequence& s : sequences)
    for (const GeneratedToken& t : s.tokens) plans += t.parts;
  return plans;
}

bool Report::all_right() const {
  return std::all_of(agreements.begin(), agreements.end(), [](const Agreement& a) {
    return std::all_of(a.partings.begin(), a.partings.end(),
                       [](const Parting& p) { return p.explanation == Explanation::kRounding; });
  });
}

Report generate(const Options& options, const std::vector<Participant>& participants, Observer& observer) {
  check(options, participants);
  Report report;
  TensorStore store(kLogitsInMemory);
  KeptLogits first_logits;
  const bool compares = participants.size() > 1;
  for (const Participant& participant : participants) {
    observer.on_begin(participant.name);
    BackendResult result{.name = participant.name, .sequences = {}};
    reset_peak_memory();
    const double begin = now();
    const std::shared_ptr<Session> session = participant.open();
    result.open_seconds = now() - begin;
    result.counts_plans = plans_of(*session).has_value();
    Loop loop(options, participant.name, session, observer);
    const bool is_first = report.backends.empty();
    if (is_first) observer.on_interface(report.interface = loop.interface());
    KeptLogits logits(options.prompts.size());
    for (size_t p = 0; p < options.prompts.size(); ++p)
      result.sequences.push_back(loop.run(p, [&](Tensor row) {
        if (compares) logits[p].push_back(store.put(std::move(row)));
      }));
    result.peak_bytes = peak_memory();
    observer.on_end(result);
    if (is_first)
      first_logits = std::move(logits);
    else
      report.agreements.push_back(
          Comparison(options, observer).compare(report.backends.front(), first_logits, result, logits));
    report.backends.push_back(std::move(result));
  }
  return report;
}

}  // namespace assay::generate
