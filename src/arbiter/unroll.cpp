#include "arbiter/unroll.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "arbiter/arbiter.h"
#include "arbiter/suspect_run.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"
#include "reference/evaluate.h"
#include "tensor/value_tensors.h"

namespace assay {
namespace {

/// A run whose straight line would have more nodes than this is left as it is: each node is judged by itself.
constexpr int64_t kMaxNodes = 200'000;

/// Entry i along the first axis of what was stacked, or in a sequence. Undefined when there is none, or when
/// its elements do not begin at a byte.
Tensor entry(const Tensor& all, int64_t i) {
  if (!all.defined() || i < 0) return {};
  if (all.is_container()) return i < all.numel() ? all.elements()[static_cast<size_t>(i)] : Tensor();
  if (all.rank() == 0 || i >= all.dim(0)) return {};
  Shape shape;
  for (size_t d = 1; d < all.shape().size(); ++d) shape.push_back(all.dim(d));
  const int64_t count = all.numel() / all.dim(0);
  if (all.dtype() == DType::kString)
    return Tensor::from<std::string>(
        shape, all.span<std::string>().subspan(static_cast<size_t>(i * count), static_cast<size_t>(count)));
  const size_t bits = bit_width(all.dtype());
  if (bits % 8 != 0) return {};
  const size_t bytes = static_cast<size_t>(count) * (bits / 8);
  Tensor one = Tensor::allocate(all.dtype(), shape);
  if (bytes > 0)
    std::memcpy(one.mutable_data(), static_cast<const char*>(all.data()) + static_cast<size_t>(i) * bytes,
                bytes);
  return one;
}

std::optional<bool> as_bool(const Tensor& t) {
  if (!t.defined() || t.dtype() != DType::kBool || t.numel() != 1) return {};
  return t.data<bool>()[0];
}

class Unroller {
 public:
  Unroller(const OpenedModel& opened, std::span<const Tensor> feed, const ArbiterCase& results)
      : opened_(opened), model_(*opened.original), case_(results), line_(std::make_shared<Model>()) {
    for (const NamedStoredTensor& t : *results.outputs) stored_.emplace(t.name, &t.tensor);
    clone_header(model_, *line_);
    Scope main{.outer = nullptr, .node = nullptr, .index = 0, .values = {}};
    const Graph& g = *model_.graph;
    for (const auto& v : g.values()) {
      Value* copy = clone_value(*v, flat());
      main.values[v.get()] = copy;
      names_of_main_.insert(v->name());
    }
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      flat().inputs.push_back(main.values.at(g.inputs[i]));
      known_[flat().inputs.back()] = feed[i];
    }
    nodes(g, main);
    for (const Value* v : g.outputs) flat().outputs.push_back(main.values.at(v));
    take_results();
    run_.model = line_;
  }

  UnrolledRun take() { return std::move(run_); }

 private:
  /// One run of a graph: the main graph's, or one iteration of a body.
  struct Scope {
    const Scope* outer;
    const Node* node;  ///< that holds the graph
    int64_t index;     ///< of the iteration; -1 in a branch
    ValueMap values;   ///< what its values are on the line
  };

  Graph& flat() { return *line_->graph; }
  void nodes(const Graph& g, Scope& scope);
  void take_results();
  void copy_node(const Node& n, Scope& scope);
  bool expand(const Node& n, Scope& scope);
  bool branch(const Node& n, Scope& scope);
  bool loop(const Node& n, Scope& scope);
  bool scan(const Node& n, Scope& scope);
  void check_count(const Node& n, const Scope& scope, int64_t count, const std::vector<Value*>& conditions);
  /// The most iterations that a Loop may make; nothing where that is not known.
  std::optional<int64_t> limit(const Node& n, const Scope& scope);

  /// The value on the line; constants are taken over when first asked for.
  Value* find(const Value* v, const Scope& scope);
  /// The value that a node makes in this scope.
  Value* make(const Value& v, Scope& scope);
  Value* make_free(const std::string& name, Type type, const Scope& scope, const Node& n);
  Value* number(int64_t n, const Type& like);
  /// The runner's own of a value on the line; undefined when it is not known.
  Tensor known(const Value* flat);
  /// The runner's own of a value of a body.
  Tensor own(const Value& v, const Scope& scope);
  /// Iterations that the runner made of a body, as the values of its nodes show; -1 when they do not.
  int64_t iterations(const Graph& body, const Node& n, const Scope& scope);
  /// The nodes that one iteration takes, counted once for each iteration that is to come.
  bool has_room(const Graph& body, int64_t iterations);
  void connect(const Node& n, size_t output, Value* from, Scope& scope);
  /// Gives the body's input `to` what iteration i of a Scan takes of scan input `number_of`, which is `input`
  /// of the node.
  void slice(const Node& n, size_t input, const Value& to, int64_t i, int64_t count, size_t number_of,
             Scope& inner);
  /// Gives output `output` of a node the elements of all iterations, along a new axis.
  void stack(const Node& n, size_t output, std::vector<Value*> parts, int64_t axis, Scope& scope);
  UnrolledRun::Place place(const Value& v, const Node& n, const Scope& scope) const;
  static const Node& outermost(const Node& n, const Scope& scope) {
    const Node* holder = &n;
    for (const Scope* s = &scope; s->outer != nullptr; s = s->outer) holder = s->node;
    return *holder;
  }
  static std::string body_text(const Scope& scope) {
    std::string text;
    for (const Scope* s = &scope; s->outer != nullptr; s = s->outer)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                          s->index < 0 ? "branch of" : fmt::format("iteration {} of", s->index),
                          s->node->label());
    return text;
  }
  /// The operator passes values of every kind on.
  bool can_pass(const Node& n) const {
    constexpr int64_t kIdentityOfSequences = 16;  // and of optionals
    if (model_.opset() >= kIdentityOfSequences) return true;
    return std::all_of(n.outputs().begin(), n.outputs().end(),
                       [](const Value* v) { return v == nullptr || v->type.is_tensor(); });
  }

  const OpenedModel& opened_;
  const Model& model_;
  const ArbiterCase& case_;
  std::shared_ptr<Model> line_;
  UnrolledRun run_;
  std::unordered_map<std::string_view, const StoredTensor*> stored_;
  std::unordered_map<std::string, Tensor> loaded_;
  std::unordered_map<const Value*, Tensor> known_;      // by value on the line
  std::unordered_map<const Value*, Value*> constants_;  // of bodies
  std::unordered_set<std::string> names_of_main_;
  int64_t nodes_left_ = kMaxNodes;
};

Value* Unroller::find(const Value* v, const Scope& scope) {
  if (v == nullptr) return nullptr;
  for (const Scope* s = &scope; s != nullptr; s = s->outer)
    if (const auto it = s->values.find(v); it != s->values.end()) return it->second;
  Value*& copy = constants_[v];
  if (copy == nullptr) {
    require(v->is_constant(), ErrorCode::kInternal, "the value '{}' was used before it was computed",
            v->name());
    copy = clone_value(*v, flat(), flat().unique_name(v->name()));
  }
  return copy;
}

UnrolledRun::Place Unroller::place(const Value& v, const Node& n, const Scope& scope) const {
  const Node& around = outermost(n, scope);
  const Value* out = around.output(0);
  return {.output = v.name(),
          .node = n.label(),
          .op_type = n.op_type,
          .inputs = variable_inputs(around),
          .body = body_text(scope),
          .enclosing = scope.outer == nullptr || out == nullptr ? "" : out->name()};
}

Value* Unroller::make(const Value& v, Scope& scope) {
  if (scope.outer == nullptr) return scope.values.at(&v);
  Value* made = flat().add_value(flat().unique_name(v.name()), v.type);
  scope.values[&v] = made;
  if (v.producer() != nullptr) run_.places[made->name()] = place(v, *v.producer(), scope);
  if (Tensor t = own(v, scope); t.defined()) {
    run_.results.push_back({made->name(), t});
    known_[made] = std::move(t);
  }
  return made;
}

Value* Unroller::make_free(const std::string& name, Type type, const Scope& scope, const Node& n) {
  Value* made = flat().add_value(flat().unique_name(name), std::move(type));
  run_.places[made->name()] = {.output = name,
                               .node = n.label(),
                               .op_type = n.op_type,
                               .inputs = variable_inputs(outermost(n, scope)),
                               .body = body_text(scope),
                               .enclosing = {}};
  return made;
}

Value* Unroller::number(int64_t n, const Type& like) {
  Tensor t = Tensor::scalar(n);
  if (like.has_shape() && like.dims->size() == 1) t = t.reshaped({1});
  return flat().add_constant(flat().unique_name("iteration"), std::move(t));
}

Tensor Unroller::known(const Value* v) {
  if (v == nullptr) return {};
  if (v->is_constant()) return v->tensor().defined() ? v->tensor().aligned() : Tensor();
  if (const auto it = known_.find(v); it != known_.end()) return it->second;
  if (const Node* n = v->producer(); n != nullptr && is_op(*n, "Constant"))
    return known_[v] = evaluate_node(*n, require_op(*n, model_), {}).at(0);
  if (!names_of_main_.contains(v->name())) return {};
  const auto it = stored_.find(v->name());
  return it == stored_.end() ? Tensor() : it->second->load();
}

Tensor Unroller::own(const Value& v, const Scope& scope) {
  const auto name = opened_.output_names.find(&v);
  if (name == opened_.output_names.end()) return {};
  Tensor& all = loaded_[name->second];
  if (!all.defined()) {
    all = value_of(name->second, DType::kSequence, [&](const std::string& part) {
      const auto it = stored_.find(part);
      return it == stored_.end() ? Tensor() : it->second->load();
    });
    if (!all.defined()) return {};
  }
  std::vector<int64_t> path;  // from the inside out
  for (const Scope* s = &scope; s->outer != nullptr; s = s->outer)
    if (s->index >= 0) path.push_back(s->index);
  Tensor t = all;
  for (size_t i = path.size(); i-- > 0;) t = entry(t, path[i]);
  return t;
}

int64_t Unroller::iterations(const Graph& body, const Node& n, const Scope& scope) {
  for (const auto& inner : body.nodes())
    for (const Value* v : inner->outputs()) {
      if (v == nullptr || !opened_.output_names.contains(v)) continue;
      // As if this run of the body were a branch: what is left are its iterations.
      const Scope whole{.outer = &scope, .node = &n, .index = -1, .values = {}};
      const Tensor all = own(*v, whole);
      if (!all.defined()) continue;
      return all.is_container() ? all.numel() : all.rank() > 0 ? all.dim(0) : -1;
    }
  return -1;
}

bool Unroller::has_room(const Graph& body, int64_t iterations) {
  int64_t all = 0;
  if (__builtin_mul_overflow(static_cast<int64_t>(body.nodes().size()) + 1, iterations, &all) ||
      all > nodes_left_)
    return false;
  nodes_left_ -= all;
  return true;
}

void Unroller::copy_node(const Node& n, Scope& scope) {
  ValueMap map;
  for (const Value* v : all_used_values(n)) map[v] = find(v, scope);
  for (const Value* v : n.outputs())
    if (v != nullptr) map[v] = make(*v, scope);
  clone_node(n, flat(), map);
}

void Unroller::connect(const Node& n, size_t output, Value* from, Scope& scope) {
  const Value* v = n.output(output);
  if (v == nullptr) return;
  Value* to = make(*v, scope);
  if (scope.outer == nullptr) run_.places[to->name()] = place(*v, n, scope);
  flat().add_node("Identity", {from}, {to}, {}, n.name);
  // What is handed on is the runner's own where it did not show that.
  if (known(to).defined()) return;
  if (Tensor t = known(from); t.defined()) known_[to] = std::move(t);
}

void Unroller::stack(const Node& n, size_t output, std::vector<Value*> parts, int64_t axis, Scope& scope) {
  const Value* v = n.output(output);
  if (v == nullptr) return;
  constexpr int64_t kAxesAsInput = 13;
  for (Value*& part : parts) {
    Value* longer = make_free(v->name(), Type::tensor(v->type.dtype), scope, n);
    if (model_.opset() < kAxesAsInput)
      flat().add_node("Unsqueeze", {part}, {longer}, {{"axes", std::vector<int64_t>{axis}}}, n.name);
    else
      flat().add_node(
          "Unsqueeze",
          {part, flat().add_constant(flat().unique_name("axes"), Tensor::vector<int64_t>({axis}))}, {longer},
          {}, n.name);
    part = longer;
  }
  Value* to = make(*v, scope);
  if (scope.outer == nullptr) run_.places[to->name()] = place(*v, n, scope);
  flat().add_node("Concat", std::move(parts), {to}, {{"axis", axis}}, n.name);
}

bool Unroller::branch(const Node& n, Scope& scope) {
  const std::optional<bool> condition = as_bool(known(find(n.input(0), scope)));
  if (!condition || !can_pass(n)) return false;
  const Graph* body = graph_attribute(n, *condition ? "then_branch" : "else_branch");
  if (body == nullptr || body->outputs.size() != n.outputs().size() || !has_room(*body, 1)) return false;
  Scope inner{.outer = &scope, .node = &n, .index = -1, .values = {}};
  nodes(*body, inner);
  for (size_t k = 0; k < body->outputs.size(); ++k) connect(n, k, find(body->outputs[k], inner), scope);
  return true;
}

std::optional<int64_t> Unroller::limit(const Node& n, const Scope& scope) {
  if (n.input(0) == nullptr) return INT64_MAX;
  const Tensor t = known(find(n.input(0), scope));
  if (!t.defined() || t.numel() != 1 || t.dtype() != DType::kInt64) return {};
  return t.data<int64_t>()[0];
}

void Unroller::check_count(const Node& n, const Scope& scope, int64_t count,
                           const std::vector<Value*>& conditions) {
  const std::optional<int64_t> most = limit(n, scope);
  if (!most) return;
  std::optional<bool> goes_on = true;
  if (n.input(1) != nullptr) goes_on = as_bool(known(find(n.input(1), scope)));
  int64_t expected = 0;
  while (goes_on && *goes_on && expected < *most && expected < count) {
    goes_on = as_bool(known(conditions[static_cast<size_t>(expected)]));
    ++expected;
  }
  if (!goes_on) return;
  const bool stops = !*goes_on || expected >= *most;
  if (stops && expected == count) return;
  const Value* out = n.output(0);
  ArbiterVerdict v;
  v.runner = case_.runner;
  v.output = out == nullptr ? "" : out->name();
  v.node = n.label();
  v.op_type = n.op_type;
  v.inputs = variable_inputs(outermost(n, scope));
  v.body = body_text(scope);
  v.verdict = Verdict::kWrong;
  v.basis = Basis::kNode;
  v.certain = true;
  v.problem = stops
                  ? fmt::format("it ran {} iterations, but its own conditions and limit end it after {}",
                                count, expected)
                  : fmt::format("it ran {} iterations, but its own conditions and limit ask for more", count);
  run_.findings.push_back(std::move(v));
}

/// The body of a Loop, where its inputs and outputs are as many as ONNX wants.
const Graph* body_of_loop(const Node& n) {
  const Graph* body = graph_attribute(n, "body");
  if (body == nullptr || n.inputs().size() < 2) return nullptr;
  const bool fits = body->inputs.size() == n.inputs().size() &&
                    body->outputs.size() == n.outputs().size() + 1 &&
                    n.outputs().size() + 2 >= n.inputs().size();
  return fits ? body : nullptr;
}

bool Unroller::loop(const Node& n, Scope& scope) {
  const Graph* body = body_of_loop(n);
  if (body == nullptr || !can_pass(n)) return false;
  const size_t carried = n.inputs().size() - 2;
  const int64_t count = iterations(*body, n, scope);
  if (count <= 0 || !has_room(*body, count)) return false;
  std::vector<Value*> state;
  for (size_t k = 0; k < carried; ++k) state.push_back(find(n.input(k + 2), scope));
  Value* condition = n.input(1) != nullptr
                         ? find(n.input(1), scope)
                         : flat().add_constant(flat().unique_name("condition"), Tensor::scalar(true));
  std::vector<Value*> conditions;
  std::vector<std::vector<Value*>> stacked(n.outputs().size() - carried);
  for (int64_t i = 0; i < count; ++i) {
    Scope inner{.outer = &scope, .node = &n, .index = i, .values = {}};
    inner.values[body->inputs[0]] = number(i, body->inputs[0]->type);
    inner.values[body->inputs[1]] = condition;
    for (size_t k = 0; k < carried; ++k) inner.values[body->inputs[k + 2]] = state[k];
    nodes(*body, inner);
    conditions.push_back(condition = find(body->outputs[0], inner));
    for (size_t k = 0; k < carried; ++k) state[k] = find(body->outputs[k + 1], inner);
    for (size_t k = 0; k < stacked.size(); ++k)
      stacked[k].push_back(find(body->outputs[k + 1 + carried], inner));
  }
  for (size_t k = 0; k < carried; ++k) connect(n, k, state[k], scope);
  for (size_t k = 0; k < stacked.size(); ++k) stack(n, carried + k, std::move(stacked[k]), 0, scope);
  check_count(n, scope, count, conditions);
  return true;
}

/// Of a list attribute of a Scan; the default is 0.
int64_t list_entry(const Node& n, std::string_view name, size_t i) {
  const Attribute* a = n.find_attribute(name);
  const auto* list = a == nullptr ? nullptr : a->get_if<std::vector<int64_t>>();
  return list != nullptr && i < list->size() ? (*list)[i] : 0;
}

/// How a Scan takes its inputs apart; none where it is not as ONNX has it, or takes batches.
struct ScanForm {
  const Graph* body;
  size_t states, sliced;

  static std::optional<ScanForm> of(const Node& n, int64_t opset) {
    constexpr int64_t kWithoutBatch = 9;
    const Graph* body = graph_attribute(n, "body");
    const Attribute* scans = n.find_attribute("num_scan_inputs");
    const int64_t* number = scans == nullptr ? nullptr : scans->get_if<int64_t>();
    if (body == nullptr || number == nullptr || opset < kWithoutBatch) return {};
    const auto sliced = static_cast<size_t>(std::clamp<int64_t>(*number, 0, INT32_MAX));
    if (sliced > n.inputs().size() || body->inputs.size() != n.inputs().size() ||
        body->outputs.size() != n.outputs().size() || n.outputs().size() < n.inputs().size() - sliced)
      return {};
    return ScanForm{.body = body, .states = n.inputs().size() - sliced, .sliced = sliced};
  }
};

void Unroller::slice(const Node& n, size_t input, const Value& to, int64_t i, int64_t count, size_t number_of,
                     Scope& inner) {
  const bool backward = list_entry(n, "scan_input_directions", number_of) == 1;
  Value* one = make_free(to.name(), Type::tensor(to.type.dtype), inner, n);
  flat().add_node("Gather", {find(n.input(input), *inner.outer), number(backward ? count - 1 - i : i, {})},
                  {one}, {{"axis", list_entry(n, "scan_input_axes", number_of)}}, n.name);
  inner.values[&to] = one;
}

bool Unroller::scan(const Node& n, Scope& scope) {
  const std::optional<ScanForm> form = ScanForm::of(n, model_.opset());
  if (!form) return false;
  const auto [body, states, sliced] = *form;
  const int64_t count = iterations(*body, n, scope);
  if (count <= 0 || !has_room(*body, count)) return false;
  std::vector<Value*> state;
  for (size_t k = 0; k < states; ++k) state.push_back(find(n.input(k), scope));
  std::vector<std::vector<Value*>> stacked(n.outputs().size() - states);
  for (int64_t i = 0; i < count; ++i) {
    Scope inner{.outer = &scope, .node = &n, .index = i, .values = {}};
    for (size_t k = 0; k < states; ++k) inner.values[body->inputs[k]] = state[k];
    for (size_t k = 0; k < sliced; ++k) slice(n, states + k, *body->inputs[states + k], i, count, k, inner);
    nodes(*body, inner);
    for (size_t k = 0; k < states; ++k) state[k] = find(body->outputs[k], inner);
    for (size_t k = 0; k < stacked.size(); ++k) stacked[k].push_back(find(body->outputs[states + k], inner));
  }
  for (size_t k = 0; k < states; ++k) connect(n, k, state[k], scope);
  for (size_t k = 0; k < stacked.size(); ++k) {
    if (list_entry(n, "scan_output_directions", k) == 1) std::reverse(stacked[k].begin(), stacked[k].end());
    stack(n, states + k, std::move(stacked[k]), list_entry(n, "scan_output_axes", k), scope);
  }
  return true;
}

bool Unroller::expand(const Node& n, Scope& scope) {
  if (scope.outer == nullptr && !opened_.nodes.contains(&n)) return false;
  if (!canonical_domain(n.domain).empty()) return false;
  if (n.op_type == "If") return branch(n, scope);
  if (n.op_type == "Loop") return loop(n, scope);
  return n.op_type == "Scan" && scan(n, scope);
}

void Unroller::nodes(const Graph& g, Scope& scope) {
  for (const auto& n : g.nodes())
    if (!expand(*n, scope)) copy_node(*n, scope);
}

/// What the runner has of the main graph's values, which keep their names.
void Unroller::take_results() {
  std::unordered_set<std::string> of_bodies;
  for (const auto& [value, name] : opened_.output_names) of_bodies.insert(name);
  for (const NamedStoredTensor& t : *case_.outputs)
    if (!of_bodies.contains(t.name)) run_.results.push_back(t);
}

}  // namespace

UnrolledRun unroll(const OpenedModel& opened, std::span<const Tensor> feed, const ArbiterCase& results) {
  return Unroller(opened, feed, results).take();
}

Arbitration arbitrate_opened(const OpenedModel& opened, std::span<const Tensor> feed,
                             std::span<const ArbiterCase> cases, const ArbiterOptions& options) {
  Arbitration all;
  for (const ArbiterCase& c : cases) {
    const UnrolledRun run = unroll(opened, feed, c);
    const ArbiterCase straight{c.runner, &run.results};
    Arbitration one = arbitrate(run.model, feed, {&straight, 1}, options);
    all.samples = std::max(all.samples, one.samples);
    all.lanes_lost += one.lanes_lost;
    for (ArbiterVerdict& v : one.outputs) {
      if (const auto it = run.places.find(v.output); it != run.places.end()) {
        const UnrolledRun::Place& p = it->second;
        v.output = p.output, v.node = p.node, v.op_type = p.op_type;
        v.inputs = p.inputs, v.body = p.body, v.enclosing = p.enclosing;
      }
      all.outputs.push_back(std::move(v));
    }
    all.outputs.insert(all.outputs.end(), run.findings.begin(), run.findings.end());
  }
  return all;
}

}  // namespace assay
