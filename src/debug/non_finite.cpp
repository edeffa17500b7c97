#include "debug/non_finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "debug/new_infinities.h"
#include "debug/places.h"
#include "graph/order.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "reference/interpreter.h"

namespace assay::debug {
namespace {

/// Origins that are followed one by one; what comes after them is followed as one.
constexpr size_t kFollowed = 63;
constexpr size_t kMaxEnds = 8;

uint64_t bit_of(size_t origin) { return uint64_t{1} << std::min(origin, kFollowed); }

/// How a node makes numbers of operands of which some are none.
std::string how_it_ends(const Node& n, const Model& model) {
  const OpFacts& facts = facts_of(n, model);
  if (facts.reads_no_numbers()) return "takes other elements";
  const Value* y = n.output(0);
  if (y != nullptr && !is_float(dtype_of(y)) && dtype_of(y) != DType::kUndefined)
    return fmt::format("makes {} of them", dtype_name(dtype_of(y)));
  if (facts.moves == Moves::kSelected) return "chooses other numbers";
  return "computes numbers of them";
}

std::vector<int64_t> first_places(const NonFiniteCount& count) {
  std::vector<int64_t> places;
  for (const std::optional<int64_t>& first : count.first)
    if (first) places.push_back(*first);
  return places;
}

void add_bodies(const Node& n, std::unordered_set<const Graph*>& bodies) {
  for (const Graph* body : subgraphs_of(n)) {
    bodies.insert(body);
    for (const auto& inner : body->nodes()) add_bodies(*inner, bodies);
  }
}

NonFiniteOrigin::Kind kind_of(const Node& n, const Model& model, const NonFiniteCount& made,
                              bool of_infinity) {
  if (facts_of(n, model).moves == Moves::kFilled) return NonFiniteOrigin::Kind::kGiven;
  return of_infinity && made.nan > 0 ? NonFiniteOrigin::Kind::kMadeOfInfinity : NonFiniteOrigin::Kind::kMade;
}

/// Ends an evaluation: what was looked for is found, or will not come.
struct Enough {};

/// Looks for the first node in the bodies of one node that makes what is no number of numbers.
class BodySearch {
 public:
  BodySearch(const Model& model, const Node& owner) : model_(model), owner_(owner) {
    add_bodies(owner, bodies_);
  }

  void see(const Node& n, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
    if (&n == &owner_) throw Enough{};
    if (!bodies_.contains(&n.graph())) return;
    if (&n == n.graph().nodes().front().get()) ++runs_[&n.graph()];
    if (has_subgraph(n)) return;  // its bodies have been looked at
    bool nan_before = false, any_before = false;
    for (const Tensor& t : inputs) {
      const NonFiniteCount count = count_non_finite(t);
      nan_before = nan_before || count.nan > 0;
      any_before = any_before || count.any();
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const NonFiniteCount count = count_non_finite(outputs[i]);
      if (!count.any() || nan_before || (any_before && count.nan == 0)) continue;
      const std::vector<int64_t> at = first_places(count);
      found_ = {.node = n.label(),
                .op_type = n.op_type,
                .tensor = n.output(i)->name(),
                .run = runs_[&n.graph()] - 1,
                .elements = explain_elements({n, model_, inputs, outputs[i], i}, at)};
      throw Enough{};
    }
  }

  std::optional<NonFiniteOrigin::InBody>& found() { return found_; }

 private:
  const Model& model_;
  const Node& owner_;
  std::unordered_set<const Graph*> bodies_;
  std::unordered_map<const Graph*, int64_t> runs_;
  std::optional<NonFiniteOrigin::InBody> found_;
};

}  // namespace

const char* origin_kind_name(NonFiniteOrigin::Kind kind) {
  switch (kind) {
    case NonFiniteOrigin::Kind::kMade:
      return "made";
    case NonFiniteOrigin::Kind::kMadeOfInfinity:
      return "made of infinity";
    default:
      return "given";
  }
}

const NonFiniteOrigin* NonFiniteReport::cause() const {
  const NonFiniteOrigin* best = nullptr;
  const auto rank = [](const NonFiniteOrigin& o) {
    return (o.outputs.empty() ? 2 : 0) + (o.kind == NonFiniteOrigin::Kind::kMade ? 0 : 1);
  };
  for (const NonFiniteOrigin& o : origins)
    if (o.kind != NonFiniteOrigin::Kind::kGiven && (best == nullptr || rank(o) < rank(*best))) best = &o;
  return best;
}

bool NonFiniteReport::reaches_outputs() const {
  return std::any_of(origins.begin(), origins.end(), [](const NonFiniteOrigin& o) {
    return o.kind != NonFiniteOrigin::Kind::kGiven && !o.outputs.empty();
  });
}

NonFiniteSearch::NonFiniteSearch(std::shared_ptr<const Model> model, std::vector<std::string> outputs)
    : model_(std::move(model)), outputs_(std::move(outputs)) {}

template <typename Body>
void NonFiniteSearch::for_each_origin(Mask mask, Body&& body) {
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(mask));
    if (i < report_.origins.size()) body(report_.origins[i]);
  }
}

void NonFiniteSearch::look(const LayerValues& values) {
  States states = constants_;
  report_.tensors = 0;
  for (const Value* v : model_->graph->inputs) state_of(*v, values, states);
  for (const auto& n : model_->graph->nodes()) look_at(*n, values, states);
  ++report_.iterations;
}

NonFiniteSearch::State NonFiniteSearch::state_of(const Value& v, const LayerValues& values, States& states) {
  if (const auto it = states.find(&v); it != states.end()) return it->second;
  const Tensor t = values.load(v);
  const NonFiniteCount count = count_non_finite(t);
  State state{.has_nan = count.nan > 0, .has_infinity = count.infinite > 0, .is_unknown = !t.defined()};
  if (count.any()) state.from = found(NonFiniteOrigin::Kind::kGiven, v, t, count, values);
  if (v.is_constant()) constants_.emplace(&v, state);
  report_.tensors += t.defined() && !v.is_constant() ? 1 : 0;
  return states.emplace(&v, state).first->second;
}

NonFiniteSearch::State NonFiniteSearch::of_operands(const Node& n, const LayerValues& values,
                                                    States& states) {
  State all;
  for (const Value* v : used_values(n)) {
    const State state = state_of(*v, values, states);
    all.has_nan = all.has_nan || state.has_nan;
    all.has_infinity = all.has_infinity || state.has_infinity;
    all.is_unknown = all.is_unknown || state.is_unknown;
    all.from |= state.from;
  }
  return all;
}

void NonFiniteSearch::look_at(const Node& n, const LayerValues& values, States& states) {
  const State before = of_operands(n, values, states);
  bool is_seen = true, ends = true;
  for (const Value* v : n.outputs()) {
    if (v == nullptr) continue;
    const Tensor t = values.load(*v);
    const NonFiniteCount count = count_non_finite(t);
    report_.tensors += t.defined() ? 1 : 0;
    is_seen = is_seen && t.defined();
    ends = ends && !count.any();
    State state{.has_nan = count.nan > 0, .has_infinity = count.infinite > 0, .is_unknown = !t.defined()};
    // What comes of something unknown may have been there before.
    const NonFiniteCount made =
        before.is_unknown ? NonFiniteCount() : made_by(*v->producer(), t, count, before, values);
    if (count.any() || state.is_unknown) state.from = before.from;
    if (count.any()) carry(*v, count, before.from);
    if (made.any()) state.from |= found(kind_of(n, *model_, made, before.has_infinity), *v, t, made, values);
    states[v] = state;
  }
  if (is_seen && ends && before.any()) end(n, before.from);
}

NonFiniteCount NonFiniteSearch::made_by(const Node& n, const Tensor& output, const NonFiniteCount& count,
                                        const State& before, const LayerValues& values) const {
  if (!count.any() || before.has_nan) return {};
  if (!before.has_infinity || count.nan > 0) return count;
  std::vector<Tensor> inputs;
  for (const Value* input : n.inputs()) inputs.push_back(input != nullptr ? values.load(*input) : Tensor());
  return new_infinities(n, *model_, inputs, output);
}

NonFiniteSearch::Mask NonFiniteSearch::found(const NonFiniteOrigin::Kind kind, const Value& v,
                                             const Tensor& t, const NonFiniteCount& count,
                                             const LayerValues& values) {
  const auto [it, is_new] = index_.try_emplace(v.name(), report_.origins.size());
  if (is_new) {
    NonFiniteOrigin origin{.kind = kind,
                           .tensor = v.name(),
                           .dtype = t.dtype(),
                           .shape = t.shape(),
                           .count = count,
                           .first_iteration = report_.iterations};
    describe(origin, v, t, values);
    report_.origins.push_back(std::move(origin));
  }
  ++report_.origins[it->second].iterations;
  note_output(v, count, report_.origins[it->second]);
  return bit_of(it->second);
}

void NonFiniteSearch::describe(NonFiniteOrigin& origin, const Value& v, const Tensor& t,
                               const LayerValues& values) {
  const std::vector<int64_t> at = first_places(origin.count);
  if (v.producer() == nullptr) {
    for (const int64_t place : at)
      origin.elements.push_back({.index = index_of(t.shape(), place), .value = number_at(t, place)});
    return;
  }
  const Node& n = *v.producer();
  origin.node = n.label();
  origin.op_type = n.op_type;
  std::vector<Tensor> inputs;
  for (const Value* input : n.inputs()) inputs.push_back(input != nullptr ? values.load(*input) : Tensor());
  const auto output = std::find(n.outputs().begin(), n.outputs().end(), &v) - n.outputs().begin();
  origin.elements = explain_elements({n, *model_, inputs, t, static_cast<size_t>(output)}, at);
  if (has_subgraph(n)) look_into_body(origin, n, values);
}

/// By the reference, in the types of the model. What that cannot evaluate stays closed.
void NonFiniteSearch::look_into_body(NonFiniteOrigin& origin, const Node& n, const LayerValues& values) {
  std::vector<Tensor> feed;
  for (const Value* input : model_->graph->inputs) feed.push_back(values.load(*input));
  BodySearch search(*model_, n);
  try {
    Interpreter interpreter(
        model_, {.precision = ReferencePrecision::kStored,
                 .skip_unknown = true,
                 .observe = [&](const Node& node, std::span<const Tensor> inputs,
                                std::span<const Tensor> outputs) { search.see(node, inputs, outputs); }});
    interpreter.run(feed, [](const Value&, std::span<const Tensor>) {});
  } catch (const Enough&) {
    origin.in_body = std::move(search.found());
  } catch (const Error&) {
    return;
  }
}

void NonFiniteSearch::carry(const Value& v, const NonFiniteCount& count, Mask from) {
  for_each_origin(from, [&](NonFiniteOrigin& origin) {
    if (origin.first_iteration == report_.iterations) ++origin.carriers;
    note_output(v, count, origin);
  });
}

void NonFiniteSearch::note_output(const Value& v, const NonFiniteCount& count, NonFiniteOrigin& origin) {
  if (std::find(outputs_.begin(), outputs_.end(), v.name()) == outputs_.end()) return;
  const bool is_known = std::any_of(origin.outputs.begin(), origin.outputs.end(),
                                    [&](const auto& reached) { return reached.output == v.name(); });
  if (!is_known) origin.outputs.push_back({v.name(), count});
}

void NonFiniteSearch::end(const Node& n, Mask from) {
  for_each_origin(from, [&](NonFiniteOrigin& origin) {
    if (origin.first_iteration != report_.iterations) return;
    ++origin.end_count;
    if (facts_of(n, *model_).mixes_axis) ++origin.weighing_ends;
    if (origin.ends.size() < kMaxEnds) origin.ends.push_back({n.label(), how_it_ends(n, *model_)});
  });
}

}  // namespace assay::debug
