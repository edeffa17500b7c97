#include "generate/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "assay/interrupt.h"
#include "backends/plan_counter.h"
#include "base/peak_memory.h"
#include "base/time_trace.h"
#include "generate/exact_logits.h"
#include "tensor/convert.h"
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

/// Nothing for a session that builds none.
std::optional<BuiltPlans> plans_of(const Session& session) {
  const auto* counter = dynamic_cast<const PlanCounter*>(&session);
  return counter != nullptr ? std::optional(counter->plans_built()) : std::nullopt;
}

/// Generates on one backend.
class Loop {
 public:
  Loop(const Options& options, const std::string& backend, Session& session, Observer& observer)
      : options_(options),
        backend_(backend),
        session_(session),
        observer_(observer),
        interface_(std::make_shared<const Interface>(
            find_interface(session.inputs(), session.outputs(), options.names))) {}

  const std::shared_ptr<const Interface>& interface() const { return interface_; }

  /// `keep` gets the logits of each token.
  GeneratedSequence run(size_t prompt, const std::function<void(Tensor)>& keep) {
    GeneratedSequence generated{.prompt = options_.prompts[prompt], .tokens = {}};
    TokenSequence sequence(interface_);
    Sampler sampler(options_.sampling);
    Tokens added = generated.prompt;
    while (static_cast<int64_t>(generated.tokens.size()) < options_.max_tokens && !generated.ended) {
      const GeneratedToken token =
          with_context([&] { return place(prompt, generated.tokens.size(), sequence); },
                       [&] { return step(sequence, sampler, added, keep); });
      generated.tokens.push_back(token);
      generated.ended =
          std::find(options_.ends.begin(), options_.ends.end(), token.token) != options_.ends.end();
      observer_.on_token(backend_, prompt, token);
      added = {token.token};
    }
    return generated;
  }

 private:
  std::string place(size_t prompt, size_t index, const TokenSequence& sequence) const {
    const auto behind = sequence.tokens().size();
    return fmt::format("for token {} of prompt {} on {}{}", index, prompt, backend_,
                       behind > 0 ? fmt::format(", behind {} positions", behind) : "");
  }

  GeneratedToken step(TokenSequence& sequence, Sampler& sampler, const Tokens& added,
                      const std::function<void(Tensor)>& keep) {
    stop_if_interrupted();
    const trace::Span span(
        trace::Kind::kRun, [&] { return fmt::format("token behind {}", sequence.tokens().size()); },
        backend_);
    const BuiltPlans before = plans_of(session_).value_or(BuiltPlans());
    Tensor logits;
    double seconds = 0;
    for (const auto part : sequence.parts(added)) {
      const std::vector<Tensor> feed = sequence.feed(part);
      std::vector<Tensor> outputs(session_.outputs().size());
      const double begin = now();
      session_.run(feed, [&](size_t i, Tensor t) { outputs.at(i) = std::move(t); });
      seconds += now() - begin;
      logits = sequence.take(part, std::move(outputs));
    }
    const BuiltPlans after = plans_of(session_).value_or(BuiltPlans());
    GeneratedToken token{.token = sampler.next(logits),
                         .seconds = seconds,
                         .positions = static_cast<int64_t>(sequence.tokens().size()),
                         .plans = after.whole - before.whole,
                         .parts = after.parts - before.parts};
    keep(std::move(logits));
    return token;
  }

  const Options& options_;
  const std::string& backend_;
  Session& session_;
  Observer& observer_;
  std::shared_ptr<const Interface> interface_;
};

double largest_difference(const Tensor& a, const Tensor& b) {
  const Tensor x = to_float64(a), y = to_float64(b);
  double largest = 0;
  for (int64_t i = 0; i < std::min(x.numel(), y.numel()); ++i)
    if (const double d = std::abs(x.data<double>()[i] - y.data<double>()[i]);
        !(d <= largest) && x.data<double>()[i] != y.data<double>()[i])
      largest = d;
  return largest;
}

double logit_of(const Tensor& logits, int64_t token) {
  const Tensor wide = to_float64(logits);
  return token < wide.numel() ? wide.data<double>()[token] : std::nan("");
}

/// The largest error of a row against the exact one, where that is finite.
double error_of(const Tensor& logits, const std::vector<double>& exact) {
  const Tensor wide = to_float64(logits);
  double error = 0;
  for (size_t i = 0; i < exact.size() && i < static_cast<size_t>(wide.numel()); ++i)
    if (std::isfinite(exact[i])) error = std::max(error, std::abs(wide.data<double>()[i] - exact[i]));
  return error;
}

void judge(Parting& parting, const Tensor& first, const Tensor& second, const Tokens& tokens,
           const std::shared_ptr<const Model>& model, const InterfaceNames& names) {
  try {
    std::vector<TensorInfo> inputs, outputs;
    for (const Value* v : model->graph->inputs) inputs.push_back({v->name(), v->type});
    for (const Value* v : model->graph->outputs) outputs.push_back({v->name(), v->type});
    const ExactLogits exact = exact_logits(
        model, std::make_shared<const Interface>(find_interface(inputs, outputs, names)), tokens);
    parting.explained = exact.explained;
    parting.exact_first = exact.exact.at(static_cast<size_t>(parting.first.token));
    parting.exact_second = exact.exact.at(static_cast<size_t>(parting.second.token));
    parting.first.error = error_of(first, exact.exact);
    parting.second.error = error_of(second, exact.exact);
    const bool first_right = parting.first.error <= exact.explained;
    const bool second_right = parting.second.error <= exact.explained;
    parting.explanation = first_right    ? second_right ? Explanation::kRounding : Explanation::kSecondWrong
                          : second_right ? Explanation::kFirstWrong
                                         : Explanation::kBothWrong;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& e) {
    parting.reason = e.what();
  }
}

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
    const int64_t x = a.sequences[prompt].tokens[index].token, y = b.sequences[prompt].tokens[index].token;
    Parting parting{.prompt = prompt, .index = index, .first = {}, .second = {}, .reason = {}};
    parting.first = {
        .name = a.name, .token = x, .best = most_likely(first, 2), .other_logit = logit_of(first, y)};
    parting.second = {
        .name = b.name, .token = y, .best = most_likely(second, 2), .other_logit = logit_of(second, x)};
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
  require(!options.prompts.empty(), ErrorCode::kInvalidArgument, "there is no prompt");
  require(options.max_tokens > 0, ErrorCode::kInvalidArgument,
          "{} tokens are none to generate: give 1 or more", options.max_tokens);
  check_sampling(options.sampling);
  for (size_t p = 0; p < options.prompts.size(); ++p)
    require(!options.prompts[p].empty(), ErrorCode::kInvalidArgument,
            "prompt {} has no token: what follows nothing cannot be generated, so give at least one, such as "
            "the one "
            "that begins a text",
            p);
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

std::string_view explanation_name(Explanation e) {
  switch (e) {
    case Explanation::kNotJudged:
      return "not judged";
    case Explanation::kRounding:
      return "rounding only";
    case Explanation::kFirstWrong:
      return "first wrong";
    case Explanation::kSecondWrong:
      return "second wrong";
    case Explanation::kBothWrong:
      return "both wrong";
  }
  return "";
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
    Loop loop(options, participant.name, *session, observer);
    const bool is_first = report.backends.empty();
    if (is_first) observer.on_interface(report.interface = *loop.interface());
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
