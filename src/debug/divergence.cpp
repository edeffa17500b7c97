#include "debug/divergence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "debug/places.h"
#include "graph/order.h"
#include "graph/read.h"
#include "reference/evaluate.h"
#include "tensor/convert.h"

namespace assay::debug {
namespace {

/// Divergences that are followed one by one; what comes after them is followed as one.
constexpr size_t kFollowedDivergences = 63;
constexpr size_t kMaxNodes = 20;
/// Tensors of as many elements that are looked at for one without match.
constexpr size_t kMaxCandidates = 64;

/// The nodes that make a tensor of tensors that were compared, in the order of a walk backwards, and those
/// tensors.
struct Region {
  std::vector<const Node*> nodes;
  std::vector<const Value*> operands;
};

template <typename IsKnown>
Region region_behind(const Value& v, IsKnown&& is_known) {
  Region region;
  std::unordered_set<const Node*> seen;
  std::unordered_set<const Value*> operands;
  std::vector<const Node*> open;
  if (v.producer() != nullptr) open.push_back(v.producer());
  while (!open.empty()) {
    const Node* n = open.back();
    open.pop_back();
    if (!seen.insert(n).second) continue;
    region.nodes.push_back(n);
    for (const Value* used : used_values(*n)) {
      if (used->is_constant()) continue;
      if (used->producer() == nullptr || is_known(*used)) {
        if (operands.insert(used).second) region.operands.push_back(used);
      } else {
        open.push_back(used->producer());
      }
    }
  }
  return region;
}

std::vector<std::string> labels_of(const Region& region) {
  std::vector<std::string> labels;
  for (const Node* n : region.nodes)
    if (labels.size() < kMaxNodes) labels.push_back(n->label());
  std::reverse(labels.begin(), labels.end());
  return labels;
}

/// How far a result is from what its node gives on the same operands in float64, by its largest number.
std::optional<double> own_error(const Value& v, const Model& model, const LayerValues& values) {
  const Node& n = *v.producer();
  const BoundOp op = bind_op(n, model);
  if (!op || has_subgraph(n) || op.op->random) return std::nullopt;
  std::vector<Tensor> inputs;
  for (const Value* input : n.inputs()) {
    inputs.push_back(input != nullptr ? values.load(*input) : Tensor());
    if (input != nullptr && !inputs.back().defined()) return std::nullopt;
  }
  const auto at =
      static_cast<size_t>(std::find(n.outputs().begin(), n.outputs().end(), &v) - n.outputs().begin());
  try {
    const Tensor exact = evaluate_exactly(n, op, std::move(inputs)).at(at);
    const TensorDifference off = difference_of(values.load(v), exact, {});
    if (!off.problem.empty()) return std::nullopt;
    return off.scale == 0 ? off.error : off.error / off.scale;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Of a tensor, so that few candidates are compared with it.
struct Fingerprint {
  int64_t elements = 0;
  double largest = 0, sum = 0;
};

Fingerprint fingerprint_of(const Tensor& t) {
  Fingerprint print{.elements = t.numel()};
  if (!has_numbers(t)) return print;
  const Tensor numbers = to_float64(t);
  for (const double x : numbers.span<double>()) {
    if (!std::isfinite(x)) continue;
    print.largest = std::max(print.largest, std::abs(x));
    print.sum += std::abs(x);
  }
  return print;
}

bool are_near(const Fingerprint& a, const Fingerprint& b) {
  constexpr double kNear = 1e-2;
  return std::abs(a.largest - b.largest) <= kNear * a.largest && std::abs(a.sum - b.sum) <= kNear * a.sum;
}

struct Candidate {
  const Value* value;
  Fingerprint print;
};

/// The first that agrees with a tensor.
std::vector<Candidate>::iterator find_equal(const Tensor& t, std::vector<Candidate>& candidates,
                                            const LayerValues& values, const LayerTolerance& tolerance) {
  const Fingerprint print = fingerprint_of(t);
  size_t tried = 0;
  for (auto c = candidates.begin(); c != candidates.end() && tried < kMaxCandidates; ++c) {
    if (!are_near(print, c->print)) continue;
    ++tried;
    if (!difference_of(t, values.load(*c->value), tolerance).differs) return c;
  }
  return candidates.end();
}

std::optional<TensorMatch> copy_of(const TensorMatch* match) {
  return match != nullptr ? std::optional(*match) : std::nullopt;
}

}  // namespace

const char* erring_side(const Divergence& divergence) {
  if (!divergence.first_own_error || !divergence.second_own_error) return "";
  constexpr double kRounding = 1e-5, kMore = 4;
  const double first = *divergence.first_own_error, second = *divergence.second_own_error;
  if (first <= kRounding && second <= kRounding) return "neither";
  if (first > kMore * second) return "first";
  return second > kMore * first ? "second" : "both";
}

DivergenceSearch::DivergenceSearch(std::shared_ptr<const Model> first, std::shared_ptr<const Model> second,
                                   DivergenceOptions options)
    : first_(std::move(first)),
      second_(std::move(second)),
      options_(std::move(options)),
      matches_(match_tensors(*first_, *second_)) {}

template <typename Body>
void DivergenceSearch::for_each_divergence(Mask mask, Body&& body) {
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(mask));
    if (i < report_.divergences.size()) body(report_.divergences[i]);
  }
}

void DivergenceSearch::look(const LayerValues& first, const LayerValues& second) {
  if (report_.iterations == 0) {
    if (options_.matches_values) match_values(first, second);
    count_matches(first, second);
  }
  compared_ = differing_ = 0;
  States states;
  for (const Value* v : first_->graph->inputs) states[v] = compare(*v, first, second, 0, states);
  for (const auto& n : first_->graph->nodes()) look_at(*n, first, second, states);
  report_.compared = std::max(report_.compared, compared_);
  report_.differing = std::max(report_.differing, differing_);
  ++report_.iterations;
}

DivergenceReport DivergenceSearch::take_report() {
  std::stable_partition(report_.divergences.begin(), report_.divergences.end(),
                        [](const Divergence& d) { return !d.outputs.empty(); });
  return std::move(report_);
}

bool DivergenceSearch::is_open(const TensorMatch* match, const LayerValues& first,
                               const LayerValues& second) const {
  if (match == nullptr) return true;
  if (match->by == MatchedBy::kComputation || match->first->producer() == nullptr) return false;
  const Tensor a = first.load(*match->first), b = second.load(*match->second);
  return a.defined() && b.defined() && difference_of(a, b, options_.tolerance).differs;
}

/// Tensors of as many elements that agree when both run: what a fusion has made of two nodes is that of the
/// second one, whatever it is called.
void DivergenceSearch::match_values(const LayerValues& first, const LayerValues& second) {
  std::unordered_map<int64_t, std::vector<Candidate>> candidates;
  std::vector<const Value*> open;
  for (const auto& n : second_->graph->nodes())
    for (const Value* w : n->outputs()) {
      if (w == nullptr || !second.find(w->name()).defined()) continue;
      if (!is_open(matches_.of_second(*w), first, second)) continue;
      const Fingerprint print = fingerprint_of(second.load(*w));
      // A single number, and nothing but zeros, are found everywhere.
      if (print.elements > 1 && print.largest > 0) candidates[print.elements].push_back({w, print});
    }
  for (const auto& n : first_->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr && first.find(v->name()).defined() &&
          candidates.contains(first.find(v->name()).numel()) && is_open(matches_.of_first(*v), first, second))
        open.push_back(v);
  for (const Value* v : open) {
    const Tensor t = first.load(*v);
    std::vector<Candidate>& group = candidates[t.numel()];
    const auto found = find_equal(t, group, second, options_.tolerance);
    if (found == group.end()) continue;
    const std::optional<TensorMatch> mine = copy_of(matches_.of_first(*v)),
                                     other = copy_of(matches_.of_second(*found->value));
    if (mine) matches_.remove(*mine);
    if (other) matches_.remove(*other);
    matches_.add(*v, *found->value, MatchedBy::kValues);
    group.erase(found);
  }
}

void DivergenceSearch::count_matches(const LayerValues& first, const LayerValues& second) {
  for (const auto& n : first_->graph->nodes())
    for (const Value* v : n->outputs()) {
      if (v == nullptr || !first.find(v->name()).defined()) continue;
      const TensorMatch* match = matches_.of_first(*v);
      if (match == nullptr || !second.find(match->second->name()).defined()) ++report_.first_alone;
      if (match != nullptr && match->second->name() != v->name())
        ++report_.matched_by[matched_by_name(match->by)];
    }
  for (const auto& n : second_->graph->nodes())
    for (const Value* w : n->outputs())
      if (w != nullptr && second.find(w->name()).defined() && matches_.of_second(*w) == nullptr)
        ++report_.second_alone;
}

void DivergenceSearch::look_at(const Node& n, const LayerValues& first, const LayerValues& second,
                               States& states) {
  Mask before = 0;
  for (const Value* v : used_values(n)) before |= states[v].from;
  for (const Value* v : n.outputs())
    if (v != nullptr) states[v] = compare(*v, first, second, before, states);
}

DivergenceSearch::State DivergenceSearch::compare(const Value& v, const LayerValues& first,
                                                  const LayerValues& second, Mask before, States& states) {
  const TensorMatch* match = matches_.of_first(v);
  const bool is_there =
      match != nullptr && first.find(v.name()).defined() && second.find(match->second->name()).defined();
  // What is not compared may hold what differs before it.
  if (!is_there) return {.from = before};
  const TensorDifference difference =
      difference_of(first.load(v), second.load(*match->second), options_.tolerance);
  ++compared_;
  State state{.is_compared = true, .differs = difference.differs, .excess = difference.excess};
  if (!difference.differs) {
    for_each_divergence(before, [&](Divergence& d) {
      if (d.first_iteration == report_.iterations) ++d.recovered;
    });
    return state;
  }
  ++differing_;
  if (before != 0)
    follow(v, difference, before);
  else
    before = found(*match, difference, first, second, states);
  state.from = before;
  return state;
}

DivergenceSearch::Mask DivergenceSearch::found(const TensorMatch& match, const TensorDifference& difference,
                                               const LayerValues& first, const LayerValues& second,
                                               const States& states) {
  const Value& v = *match.first;
  const auto [it, is_new] = index_.try_emplace(v.name(), report_.divergences.size());
  if (is_new) {
    Divergence d{.first_tensor = v.name(),
                 .second_tensor = match.second->name(),
                 .by = match.by,
                 .difference = difference,
                 .first_iteration = report_.iterations};
    const auto state_of = [&](const Value& u) {
      const auto found = states.find(&u);
      return found != states.end() ? found->second : State();
    };
    const Region own = region_behind(v, [&](const Value& u) { return state_of(u).is_compared; });
    const Region other = region_behind(*match.second, [&](const Value& w) {
      const TensorMatch* m = matches_.of_second(w);
      return m != nullptr && state_of(*m->first).is_compared;
    });
    d.first_nodes = labels_of(own);
    d.second_nodes = labels_of(other);
    for (const Value* u : own.operands)
      d.excess_of_operands = std::max(d.excess_of_operands, state_of(*u).excess);
    if (own.nodes.size() == 1) d.first_own_error = own_error(v, *first_, first);
    if (other.nodes.size() == 1) d.second_own_error = own_error(*match.second, *second_, second);
    report_.divergences.push_back(std::move(d));
  }
  ++report_.divergences[it->second].iterations;
  note_output(v, difference, report_.divergences[it->second]);
  return Mask{1} << std::min(it->second, kFollowedDivergences);
}

void DivergenceSearch::follow(const Value& v, const TensorDifference& difference, Mask from) {
  for_each_divergence(from, [&](Divergence& d) {
    if (d.first_iteration == report_.iterations) ++d.followers;
    note_output(v, difference, d);
  });
}

void DivergenceSearch::note_output(const Value& v, const TensorDifference& difference, Divergence& d) {
  if (std::find(options_.outputs.begin(), options_.outputs.end(), v.name()) == options_.outputs.end()) return;
  const bool is_known = std::any_of(d.outputs.begin(), d.outputs.end(),
                                    [&](const auto& reached) { return reached.output == v.name(); });
  if (!is_known) d.outputs.push_back({v.name(), difference});
}

}  // namespace assay::debug
