#include "debug/sequence_divergence.h"

#include <algorithm>
#include <limits>

#include "generate/parting.h"
#include "generate/prompts.h"
#include "generate/sampling.h"
#include "generate/stepper.h"
#include "run/output_recorder.h"

namespace assay::debug {
namespace {

using generate::Parting;
using generate::Stepper;
using generate::Tokens;
using generate::TokenSequence;

/// A step whose layers are to be looked at, with both sequences before it.
struct Marked {
  StepDivergence step;
  TokenSequence first, second;
};

/// The results of all layers in one step.
struct StepValues {
  bool from_one_cache = true;
  LayerValues values;
};

class SequenceSearch {
 public:
  SequenceSearch(const GeneratingSide& first, const GeneratingSide& second,
                 const SequenceDivergenceOptions& options, generate::Observer& observer)
      : first_side_(first), second_side_(second), options_(options), observer_(observer) {}

  SequenceDivergence run() {
    found_.first_name = first_side_.name;
    found_.second_name = second_side_.name;
    found_.smallest_margin = std::numeric_limits<double>::infinity();
    generate();
    look_at_layers();
    return std::move(found_);
  }

 private:
  // ---- Steps.

  /// The sessions go with it, before those of layers are opened.
  void generate() {
    Stepper first(first_side_.name, first_side_.open(), options_.names);
    observer_.on_interface(*first.interface());
    Stepper second(second_side_.name, second_side_.open(), options_.names);
    for (size_t p = 0; p < options_.prompts.size() && marked_.empty(); ++p) {
      ++found_.prompts;
      first.begin(p);
      second.begin(p);
      follow(p, first, second);
    }
  }

  void follow(size_t prompt, Stepper& first, Stepper& second) {
    Tokens added = options_.prompts[prompt];
    for (size_t index = 0; static_cast<int64_t>(index) < options_.max_tokens; ++index) {
      const auto [x, y] = step(prompt, index, added, first, second);
      const std::optional<int64_t> a = token_of(first, x, index), b = token_of(second, y, index);
      if (!a || !b) return;
      note_logits(x, y);
      if (a != b) {
        part({.name = first_side_.name, .token = *a, .best = {}}, x,
             {.name = second_side_.name, .token = *b, .best = {}}, y, first.sequence().tokens());
        return;
      }
      ++found_.equal_tokens;
      added = {*a};
      if (std::find(options_.ends.begin(), options_.ends.end(), *a) != options_.ends.end()) return;
    }
  }

  /// The most likely one. Nothing where the logits allow none and a step whose outputs differ is known, which
  /// may be why.
  std::optional<int64_t> token_of(const Stepper& side, const Tensor& logits, size_t index) {
    try {
      return with_context([&] { return side.place(index); },
                          [&] { return generate::Sampler({}).next(logits); });
    } catch (const Error& e) {
      if (marked_.empty()) throw;
      found_.stopped = e.what();
      return std::nullopt;
    }
  }

  /// Runs it on both, in as many parts as the one needs that takes fewer tokens. Returns the logits.
  std::pair<Tensor, Tensor> step(size_t prompt, size_t index, const Tokens& added, Stepper& first,
                                 Stepper& second) {
    const int64_t any = std::numeric_limits<int64_t>::max();
    const bool is_first_narrower =
        first.interface()->step_tokens.value_or(any) <= second.interface()->step_tokens.value_or(any);
    std::pair<Tensor, Tensor> logits;
    for (const auto part : (is_first_narrower ? first : second).sequence().parts(added)) {
      last_.emplace(Marked{.step = {.prompt = prompt,
                                    .index = index,
                                    .positions = static_cast<int64_t>(first.sequence().tokens().size()),
                                    .added = Tokens(part.begin(), part.end())},
                           .first = first.sequence(),
                           .second = second.sequence()});
      const auto run = [&](Stepper& side) {
        return with_context([&] { return side.place(index); }, [&] { return side.run(part).logits; });
      };
      logits.first = run(first);
      logits.second = run(second);
      if (!marked_.empty()) continue;  // nothing that differs behind it says anything new
      last_->step.outputs = differing_outputs(logits.first, first, logits.second, second);
      if (!last_->step.outputs.empty()) marked_.push_back(*last_);
    }
    return logits;
  }

  std::vector<OutputDifference> differing_outputs(const Tensor& x, const Stepper& first, const Tensor& y,
                                                  const Stepper& second) const {
    const generate::Interface &a = *first.interface(), &b = *second.interface();
    std::vector<OutputDifference> outputs;
    const auto compare = [&](size_t output, const Tensor& mine, size_t other_output, const Tensor& other) {
      OutputDifference o{a.outputs[output].name, b.outputs[other_output].name,
                         difference_of(mine, other, options_.tolerance)};
      if (o.difference.differs) outputs.push_back(std::move(o));
    };
    compare(a.logits, x, b.logits, y);
    // Caches of other forms are compared as layers, where the search comes to them.
    if (a.caches.size() != b.caches.size()) return outputs;
    for (size_t i = 0; i < a.caches.size(); ++i) {
      const Tensor &mine = first.sequence().caches()[i], &other = second.sequence().caches()[i];
      if (mine.shape() == other.shape()) compare(a.caches[i].output, mine, b.caches[i].output, other);
    }
    return outputs;
  }

  void note_logits(const Tensor& x, const Tensor& y) {
    found_.largest_difference = std::max(found_.largest_difference, generate::largest_difference(x, y));
    const auto best = generate::most_likely(x, 2);
    if (best.size() == 2)
      found_.smallest_margin = std::min(found_.smallest_margin, best[0].logit - best[1].logit);
  }

  void part(generate::Side first, const Tensor& x, generate::Side second, const Tensor& y,
            const Tokens& tokens) {
    Parting parting = generate::parting_of(last_->step.prompt, last_->step.index, std::move(first), x,
                                           std::move(second), y);
    if (options_.judged != nullptr) {
      observer_.on_judge(parting);
      generate::judge(parting, x, y, tokens, options_.judged, options_.names);
    } else {
      parting.reason = "nothing was to be judged";
    }
    const bool is_explained = parting.explanation == generate::Explanation::kRounding;
    found_.partings.push_back(std::move(parting));
    const bool is_marked = !marked_.empty() && marked_.back().step.positions == last_->step.positions;
    if (is_marked)
      marked_.back().step.parts = true;
    else if (!is_explained) {
      last_->step.parts = true;
      marked_.push_back(std::move(*last_));
    }
  }

  // ---- Layers.

  void look_at_layers() {
    if (marked_.empty()) return;
    TensorStore store(kResultMemory);
    std::shared_ptr<const Model> first_model, second_model;
    std::vector<StepValues> first = values_of(
        first_side_, first_model, store, [&](const Marked& m, auto&) { return std::pair(m.first, true); });
    std::vector<StepValues> second =
        values_of(second_side_, second_model, store, [&](const Marked& m, const TokenSequence& own) {
          std::optional<TokenSequence> shared = m.first.seen_by(own.shared_interface());
          return std::pair(shared ? std::move(*shared) : own, shared.has_value());
        });
    for (size_t i = 0; i < marked_.size(); ++i) {
      StepDivergence& step = marked_[i].step;
      DivergenceSearch search(first_model, second_model,
                              {.tolerance = options_.tolerance,
                               .matches_values = options_.matches_values,
                               .outputs = output_names(marked_[i].first.interface())});
      search.look(first[i].values, second[i].values);
      step.layers = search.take_report();
      step.layers.first_name = first_side_.name;
      step.layers.second_name = second_side_.name;
      step.from_one_cache = second[i].from_one_cache;
      found_.steps.push_back(std::move(step));
    }
  }

  static std::vector<std::string> output_names(const generate::Interface& f) {
    std::vector<std::string> names;
    for (const TensorInfo& o : f.outputs) names.push_back(o.name);
    return names;
  }

  /// Runs the layers of one side in all marked steps. `sequence` gives that to feed of a step, and whether it
  /// has the first one's cache; `model` receives the model.
  template <typename SequenceOf>
  std::vector<StepValues> values_of(const GeneratingSide& side, std::shared_ptr<const Model>& model,
                                    TensorStore& store, SequenceOf&& sequence_of) const {
    const std::unique_ptr<LayerRun> layers = side.open_layers();
    model = layers->model();
    std::vector<StepValues> all;
    for (const Marked& m : marked_) {
      const auto [sequence, from_one_cache] = sequence_of(m, m.second);
      StepValues step{.from_one_cache = from_one_cache, .values = LayerValues(store)};
      layers->run(sequence.named_feed(m.step.added),
                  [&](const std::string& name, Tensor value) { step.values.put(name, std::move(value)); });
      all.push_back(std::move(step));
    }
    return all;
  }

  const GeneratingSide &first_side_, &second_side_;
  const SequenceDivergenceOptions& options_;
  generate::Observer& observer_;
  SequenceDivergence found_;
  std::optional<Marked> last_;
  std::vector<Marked> marked_;
};

}  // namespace

SequenceDivergence find_sequence_divergence(const GeneratingSide& first, const GeneratingSide& second,
                                            const SequenceDivergenceOptions& options,
                                            generate::Observer& observer) {
  generate::check_prompts(options.prompts, options.max_tokens);
  return SequenceSearch(first, second, options, observer).run();
}

}  // namespace assay::debug
