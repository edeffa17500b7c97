#include "engine/planner/type_holds.h"

#include <algorithm>
#include <cmath>

#include "analysis/held_types.h"
#include "graph/node_order.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "ops/node_facts.h"
#include "tensor/convert.h"

namespace assay::engine {
namespace {

constexpr int64_t kBfloat16Opset = 13;
constexpr float kMaxFloat16 = 65504;
/// Of what is named in one sentence.
constexpr size_t kMaxNames = 4;

bool is_16_bits(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

/// A type whose arithmetic the engine has.
bool is_engine_float(DType t) { return t == DType::kFloat32 || is_16_bits(t); }

/// They lead from one type to another.
bool is_conversion(const Node& n, const Model& model) { return facts_of(n, model).recodes; }

template <typename Test>
bool any_value(const Node& n, Test test) {
  for (const auto* values : {&n.inputs(), &n.outputs()})
    for (const Value* v : *values)
      if (v != nullptr && test(dtype_of(v))) return true;
  return false;
}

/// Values of 8 bits, with a scale.
bool is_quantized(Format f) { return f.dtype != DType::kUndefined && !is_16_bits(f.dtype); }

/// Something is stored in another type than its own.
bool stores_otherwise(const Candidate& c) {
  const auto is_other = [](const auto& o) { return o.format.dtype != DType::kUndefined; };
  return std::any_of(c.inputs.begin(), c.inputs.end(), is_other) ||
         std::any_of(c.outputs.begin(), c.outputs.end(), is_other) ||
         std::any_of(c.views.begin(), c.views.end(), is_other);
}

bool stores_quantized(const Candidate& c) {
  const auto is_other = [](const auto& o) { return is_quantized(o.format); };
  return std::any_of(c.inputs.begin(), c.inputs.end(), is_other) ||
         std::any_of(c.outputs.begin(), c.outputs.end(), is_other) ||
         std::any_of(c.views.begin(), c.views.end(), is_other);
}

DType arithmetic_of(const Candidate& c) {
  return c.arithmetic == DType::kUndefined ? DType::kFloat32 : c.arithmetic;
}

/// Why the network as it is cannot follow a wish for the node; empty: it may be able to.
std::string impossible(const Node& n, DType dtype, const Precisions& allowed, bool& has_no_floats) {
  has_no_floats = has_subgraph(n);
  if (has_no_floats) return "it holds networks, whose layers are held one by one";
  const bool is_known = !any_value(n, [](DType t) { return t == DType::kUndefined; });
  has_no_floats = is_known && !any_value(n, [](DType t) { return is_float(t); });
  if (has_no_floats) return fmt::format("it has no floating-point numbers ({})", n.op_type);
  if (is_known && !any_value(n, is_engine_float))
    return fmt::format("the network declares it as {}: a Cast changes that",
                       dtype_name(dtype_of(n.output(0))));
  if (!is_engine_float(dtype) && dtype != DType::kInt8)
    return fmt::format("the engine computes in float32, float16, bfloat16 and int8, not in {}",
                       dtype_name(dtype));
  if (dtype == DType::kFloat16 && !allowed.float16) return "float16 is not allowed to the builder (fp16)";
  if (dtype == DType::kBFloat16 && !allowed.bfloat16) return "bfloat16 is not allowed to the builder (bf16)";
  return {};
}

std::string impossible(const Value& v, DType dtype, const Precisions& allowed, bool& is_other) {
  const DType own = dtype_of(&v);
  is_other = own != DType::kUndefined && !is_float(own);
  if (is_other) return fmt::format("its numbers are {}", dtype_name(own));
  is_other = is_16_bits(own) && dtype == DType::kFloat32;
  if (own == dtype) return {};
  if (own != DType::kUndefined && own != DType::kFloat32)
    return fmt::format("the network declares it as {}: a Cast changes that", dtype_name(own));
  if (!is_engine_float(dtype) && dtype != DType::kInt8)
    return fmt::format("the engine stores floats as float32, float16, bfloat16 and int8, not as {}",
                       dtype_name(dtype));
  if (dtype == DType::kFloat16 && !allowed.float16) return "float16 is not allowed to the builder (fp16)";
  if (dtype == DType::kBFloat16 && !allowed.bfloat16) return "bfloat16 is not allowed to the builder (bf16)";
  return {};
}

DType wanted_type(const std::vector<std::string>& origins, const TypeRules& rules) {
  for (const std::string& name : origins)
    if (const auto it = rules.layers.find(name); it != rules.layers.end()) return it->second.dtype;
  return DType::kUndefined;
}

void mark(Graph& g, const TypeRules& rules) {
  for (const auto& n : g.nodes()) {
    const DType dtype = is_beside(*n) ? DType::kUndefined : wanted_type(origins_of(*n), rules);
    if (dtype != DType::kUndefined) set_held_type(*n, dtype_name(dtype));
    for (const Attribute& a : n->attributes) {
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>()) mark(**sub, rules);
      if (const auto* list = a.get_if<Attribute::Graphs>())
        for (const auto& sub : *list) mark(*sub, rules);
    }
  }
}

Type typed(Type type, DType dtype) {
  type.dtype = dtype;
  return type;
}

/// Casts that are shown under the names of a node.
class CastWriter {
 public:
  explicit CastWriter(Graph& g) : graph_(g), order_(g) {}
  ~CastWriter() { order_.commit(); }
  CastWriter(const CastWriter&) = delete;
  CastWriter& operator=(const CastWriter&) = delete;

  NodeOrder& order() { return order_; }
  Value* fresh(const std::string& name, const Type& type, DType dtype) {
    return graph_.add_value(graph_.unique_name(name), typed(type, dtype));
  }
  void add(const Node* before, const Node& cause, Value* from, Value* to) {
    Node* cast = graph_.add_node("Cast", {from}, {to}, {{"to", static_cast<int64_t>(dtype_of(to))}},
                                 to->name() + "/cast");
    set_origins(*cast, origins_of(cause));
    set_beside(*cast);
    order_.insert(before, *cast);
  }

 private:
  Graph& graph_;
  NodeOrder order_;
};

/// Numbers beyond float16's range become its largest.
Tensor rounded_constant(const UnalignedTensor& t, DType dtype) {
  Tensor wide = t.aligned();
  if (dtype == DType::kFloat16) {
    Tensor within = Tensor::allocate(DType::kFloat32, wide.shape());
    std::transform(wide.span<float>().begin(), wide.span<float>().end(), within.mutable_span<float>().begin(),
                   [](float x) { return std::isfinite(x) ? std::clamp(x, -kMaxFloat16, kMaxFloat16) : x; });
    wide = std::move(within);
  }
  return convert(convert(wide, dtype), DType::kFloat32);
}

/// The tensor that `v` is as it is stored in 16 bits (round_stored_tensors()), if the rules say so; else
/// null.
const std::string* stored_tensor(const Value& v, const TypeRules& rules) {
  if (!is_16_bits(dtype_of(&v))) return nullptr;
  const auto it = rules.tensors.find(v.name().substr(0, v.name().rfind('/')));
  return it != rules.tensors.end() && it->second.dtype == dtype_of(&v) ? &it->first : nullptr;
}

/// What gives the numbers of a value, behind nodes that only move them.
const Node* source_of(const Value* v, const Model& model) {
  const Node* n = v->producer();
  while (n != nullptr && hands_on(*n, model) && n->input(0) != nullptr) n = n->input(0)->producer();
  return n;
}

/// Why nothing computes the node in the type, and what there is.
std::string reason_for(const Node& n, DType dtype, const RegionOptions& asked,
                       const QuantizeReport* quantized) {
  if (dtype == DType::kInt8) {
    std::string reason = quantized != nullptr ? quantization_reason(n, *quantized) : std::string();
    for (const Refusal& r : asked.refusals)
      if (reason.empty() && r.tactic.starts_with("int8_")) reason = r.reason;
    if (reason.empty()) reason = fmt::format("{} has no algorithm on 8-bit integers", n.op_type);
    return quantized != nullptr ? reason : reason + " (int8 with scales quantizes what can be)";
  }
  std::string ways;
  size_t count = 0;
  for (const Refusal& r : asked.refusals)
    if (r.reason.find(" is held in ") != std::string::npos && ++count <= kMaxNames)
      ways += (ways.empty() ? "" : ", ") + r.tactic;
  if (ways.empty())
    return fmt::format("no algorithm that is allowed runs {}{}", n.op_type,
                       asked.refusals.empty() ? "" : ": " + asked.refusals.back().reason);
  return fmt::format("{} runs in other types only: {}{}", n.op_type, ways, count > kMaxNames ? ", ..." : "");
}

/// A candidate computes a node in the type that it is held in. `is_rounded`: its operands are rounded to that
/// type.
bool keeps_type(const Candidate& c, const Node& n, DType held, bool is_rounded, const Model& model) {
  const DType arithmetic = arithmetic_of(c);
  const bool is_float32 =
      arithmetic == DType::kFloat32 && c.numerics != NumericsClass::kLowered && !stores_otherwise(c);
  if (held == DType::kFloat32) return is_float32;
  if (arithmetic == held) return true;
  if (held == DType::kInt8)
    return stores_quantized(c) || is_op(n, "QuantizeLinear") || is_op(n, "DequantizeLinear");
  return hands_on(n, model) || is_conversion(n, model) || (is_rounded && is_float32);
}

std::string other_type_reason(const Candidate& c, const Node& n, DType held) {
  const DType arithmetic = arithmetic_of(c);
  return fmt::format("it computes in {}{}, and '{}' is held in {}", dtype_name(arithmetic),
                     arithmetic != held    ? ""
                     : stores_quantized(c) ? " on 8-bit levels"
                                           : " with larger rounding errors",
                     origins_of(n).front(), dtype_name(held));
}

/// Why a region may not keep what is inside it to itself: a tensor is to be stored; empty: it may.
std::string unstored_reason(const Region& region, const TypeRules& rules) {
  for (const Node* n : region.nodes) {
    if (n == region.nodes.back()) continue;
    for (const Value* v : n->outputs())
      if (const std::string* tensor = v != nullptr ? stored_tensor(*v, rules) : nullptr)
        return fmt::format("it does not store the tensor '{}' in {}", *tensor, dtype_name(dtype_of(v)));
  }
  return {};
}

/// Why a value may not be in this format; empty: it may. `is_given`: the candidate writes it.
std::string format_reason(const Value* v, Format format, bool is_given, const TypeRules& rules) {
  const auto it = v == nullptr ? rules.tensors.end() : rules.tensors.find(v->name());
  if (it == rules.tensors.end()) return {};
  const DType held = it->second.dtype;
  const bool is_fine = held == DType::kFloat32 ? format.dtype == DType::kUndefined
                                               : held != DType::kInt8 || is_quantized(format) || !is_given;
  if (is_fine) return {};
  return fmt::format("it has the tensor '{}' as {}, which is held in {}", v->name(),
                     dtype_name(stored_type(v, format)), dtype_name(held));
}

/// The same for all that a candidate reads and writes.
std::string format_reason(const Candidate& c, const TypeRules& rules) {
  std::string reason;
  for (const Candidate::Operand& o : c.inputs)
    if (reason.empty()) reason = format_reason(o.value, o.format, false, rules);
  for (const Candidate::Operand& o : c.outputs)
    if (reason.empty()) reason = format_reason(o.value, o.format, true, rules);
  for (const Candidate::View& v : c.views)
    if (reason.empty()) reason = format_reason(v.value, v.format, true, rules);
  return reason;
}

}  // namespace

std::string quantization_reason(const Node& n, const QuantizeReport& quantized) {
  for (const QuantizeReport::Kept& k : quantized.kept) {
    if (k.node == n.label()) return k.reason;
    for (const std::string& name : origins_of(n))
      if (k.node.find("'" + name + "'") != std::string::npos) return k.reason;
  }
  const Value* x = n.input(0);
  const auto& missing = quantized.without_scale;
  if (x != nullptr && std::find(missing.begin(), missing.end(), x->name()) != missing.end())
    return fmt::format("there is no scale for its input '{}'", x->name());
  return {};
}

std::string UnmetWish::str() const {
  return fmt::format("{} '{}' in {}: {}", is_tensor ? "tensor" : "layer", name, dtype_name(wanted), reason);
}

void refuse_unmet(const std::vector<UnmetWish>& unmet) {
  if (unmet.empty()) return;
  std::string list;
  for (const UnmetWish& u : unmet) list += "\n    " + u.str();
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} wish(es) for types cannot be followed:{}", unmet.size(), list));
}

std::vector<UnmetWish> take_out_impossible(const Model& model, const Precisions& allowed, TypeRules& rules) {
  std::vector<UnmetWish> unmet;
  for (const auto& n : model.graph->nodes()) {
    const std::vector<std::string> names = origins_of(*n);
    const auto it = names.empty() ? rules.layers.end() : rules.layers.find(names.front());
    if (it == rules.layers.end()) continue;
    bool has_no_floats = false;
    std::string reason = impossible(*n, it->second.dtype, allowed, has_no_floats);
    if (reason.empty()) continue;
    if (it->second.is_exact || !has_no_floats)
      unmet.push_back({.name = it->first, .wanted = it->second.dtype, .reason = std::move(reason)});
    rules.layers.erase(it);
  }
  for (auto it = rules.tensors.begin(); it != rules.tensors.end();) {
    const Value* v = model.graph->find_value(it->first);
    bool is_other = false;
    std::string reason = v == nullptr ? std::string() : impossible(*v, it->second.dtype, allowed, is_other);
    if (reason.empty()) {
      ++it;
      continue;
    }
    if (it->second.is_exact || !is_other)
      unmet.push_back({it->first, true, it->second.dtype, std::move(reason)});
    it = rules.tensors.erase(it);
  }
  return unmet;
}

void mark_held(Model& model, const TypeRules& rules) {
  remove_held_types(model);
  if (!rules.layers.empty()) mark(*model.graph, rules);
}

int64_t opset_for(const TypeRules& rules) {
  const auto is_bfloat16 = [](const auto& entry) { return entry.second.dtype == DType::kBFloat16; };
  const bool any = std::any_of(rules.layers.begin(), rules.layers.end(), is_bfloat16) ||
                   std::any_of(rules.tensors.begin(), rules.tensors.end(), is_bfloat16);
  return any ? kBfloat16Opset : 0;
}

void round_stored_tensors(Model& model, const TypeRules& rules) {
  Graph& g = *model.graph;
  CastWriter casts(g);
  for (const auto& [name, wish] : rules.tensors) {
    Value* v = g.find_value(name);
    if (v == nullptr || v->producer() == nullptr || !is_16_bits(wish.dtype) ||
        dtype_of(v) != DType::kFloat32 || &v->producer()->graph() != &g)
      continue;
    Node& producer = *v->producer();
    const auto slot = static_cast<size_t>(std::find(producer.outputs().begin(), producer.outputs().end(), v) -
                                          producer.outputs().begin());
    Value* given = casts.fresh(name + "/unrounded", v->type, DType::kFloat32);
    Value* narrow = casts.fresh(fmt::format("{}/{}", name, dtype_name(wish.dtype)), v->type, wish.dtype);
    producer.set_output(slot, given);
    const Node* next = casts.order().next(&producer);
    casts.add(next, producer, given, narrow);
    casts.add(next, producer, narrow, v);
  }
}

DType TypeHolds::held(const Node& n) const {
  const auto it = held_.find(&n);
  return it == held_.end() ? DType::kUndefined : it->second;
}

DType TypeHolds::rounded(const Region& region) const {
  for (const Node* n : region.nodes)
    if (rounded_.contains(n)) return held(*n);
  return DType::kUndefined;
}

std::string TypeHolds::refusal(const Region& region, const Candidate& c) const {
  const Node* first = nullptr;
  const auto name = [](const Node& n) { return origins_of(n).front(); };
  for (const Node* n : region.nodes) {
    const DType wanted = held(*n);
    if (wanted == DType::kUndefined) continue;
    if (first != nullptr && held(*first) != wanted)
      return fmt::format("'{}' is held in {}, '{}' in {}", name(*first), dtype_name(held(*first)), name(*n),
                         dtype_name(wanted));
    first = n;
    if (!keeps_type(c, *n, wanted, rounded_.contains(n), model_)) return other_type_reason(c, *n, wanted);
  }
  if (rules_.tensors.empty()) return {};
  if (std::string reason = unstored_reason(region, rules_); !reason.empty()) return reason;
  return format_reason(c, rules_);
}

/// By origins; nodes that others were merged into, too.
void TypeHolds::find_held(const Model& model, std::vector<UnmetWish>& unmet) {
  for (const auto& n : model.graph->nodes()) {
    if (is_beside(*n) || !any_value(*n, is_engine_float)) continue;
    const std::string* first = nullptr;
    const std::vector<std::string> origins = origins_of(*n);
    for (const std::string& name : origins) {
      const auto it = rules_.layers.find(name);
      if (it == rules_.layers.end()) continue;
      const auto [known, is_new] = held_.try_emplace(n.get(), it->second.dtype);
      if (is_new)
        first = &name;
      else if (known->second != it->second.dtype)
        unmet.push_back({.name = name,
                         .wanted = it->second.dtype,
                         .reason = fmt::format("it became one with '{}', which is held in {}", *first,
                                               dtype_name(known->second))});
    }
  }
}

std::vector<UnmetWish> TypeHolds::prepare(Model& model, const AskTactics& ask,
                                          const QuantizeReport* quantized) {
  std::vector<UnmetWish> unmet;
  find_held(model, unmet);
  std::vector<Node*> to_round;
  for (const auto& n : model.graph->nodes())
    if (is_16_bits(held(*n)) && !hands_on(*n, model_) && !is_conversion(*n, model_) &&
        ask(node_region(*n)).options.empty())
      to_round.push_back(n.get());
  for (const Node* n : to_round) rounded_.insert(n);
  round_operands(model, to_round);
  for (const auto& n : model.graph->nodes()) {
    const DType wanted = held(*n);
    if (wanted == DType::kUndefined) continue;
    const RegionOptions asked = ask(node_region(*n));
    if (!asked.options.empty()) continue;
    unmet.push_back({.name = origins_of(*n).front(),
                     .wanted = wanted,
                     .reason = reason_for(*n, wanted, asked, quantized)});
    held_.erase(n.get());
    rounded_.erase(n.get());
  }
  return unmet;
}

void TypeHolds::round_operands(Model& model, const std::vector<Node*>& nodes) {
  Graph& g = *model.graph;
  CastWriter casts(g);
  std::unordered_map<const Value*, std::vector<std::pair<DType, Value*>>> known;
  for (Node* n : nodes) {
    const DType dtype = held(*n);
    for (size_t i = 0; i < n->inputs().size(); ++i) {
      Value* v = n->input(i);
      if (v == nullptr || dtype_of(v) != DType::kFloat32) continue;
      // As between the operators of a network that declares the type: they are not rounded there.
      const Node* source = v->tensor().defined() ? nullptr : source_of(v, model);
      if (source != nullptr && held(*source) == dtype) continue;
      auto& made = known[v];
      const auto it =
          std::find_if(made.begin(), made.end(), [&](const auto& entry) { return entry.first == dtype; });
      if (it != made.end()) {
        n->set_input(i, it->second);
        continue;
      }
      const std::string name = fmt::format("{}/{}", v->name(), dtype_name(dtype));
      Value* wide = nullptr;
      if (v->tensor().defined()) {
        wide = g.add_constant(g.unique_name(name), rounded_constant(v->tensor(), dtype));
      } else {
        Value* narrow = casts.fresh(name, v->type, dtype);
        wide = casts.fresh(name + "/wide", v->type, DType::kFloat32);
        Node* const producer = v->producer();
        const Node* position = producer != nullptr && &producer->graph() == &g ? casts.order().next(producer)
                                                                               : casts.order().first();
        casts.add(position, *n, v, narrow);
        casts.add(position, *n, narrow, wide);
      }
      n->set_input(i, wide);
      made.emplace_back(dtype, wide);
    }
  }
}

DType computed_type(const Region& region, const Candidate& c, const TypeHolds* holds, const Model& model) {
  if (c.arithmetic != DType::kUndefined) return c.arithmetic;
  if (holds != nullptr)
    if (const DType dtype = holds->rounded(region); dtype != DType::kUndefined) return dtype;
  if (c.numerics == NumericsClass::kExact)
    for (const Candidate::Operand& o : c.outputs)
      if (o.value != nullptr && o.format.dtype != DType::kUndefined) return o.format.dtype;
  DType dtype = DType::kUndefined;
  for (const Node* n : region.nodes) {
    if (is_beside(*n) || hands_on(*n, model) || is_op(*n, "Cast")) continue;
    if (dtype == DType::kUndefined && region.output() != nullptr) dtype = dtype_of(region.output());
    if (any_value(*n, [](DType t) { return t == DType::kFloat32; })) return DType::kFloat32;
    for (const Value* v : n->outputs())
      if (v != nullptr && is_float(dtype_of(v))) dtype = dtype_of(v);
  }
  return dtype;
}

}  // namespace assay::engine
