// Element-wise operators between a tensor of 8 bits and a QuantizeLinear, if all of them work on that one
// tensor, become a function of its 256 values.
#include <algorithm>
#include <unordered_set>

#include "analysis/held_types.h"
#include "analysis/match.h"
#include "analysis/quantization.h"
#include "ops/node_facts.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_fuse_lookup {
namespace {

/// More than any activation function is written in.
constexpr size_t kMaxNodes = 32;

bool is_byte(const Value* v) { return dtype_of(v) == DType::kUInt8 || dtype_of(v) == DType::kInt8; }

/// Operands whose elements the result's elements are computed from; the other inputs are numbers.
size_t operand_count(const Node& n, const Model& model) {
  if (is_region(n)) return n.inputs().size();
  return read_quantization(n) ? 1 : facts_of(n, model).elementwise;
}

/// A number that leaves the shape of its neighbours as it is.
bool is_number(const Value* v, const Value* beside, int64_t ir_version) {
  return constant_of(v) != nullptr && is_fixed(v, ir_version) && v->tensor().numel() == 1 &&
         v->tensor().rank() <= std::max(0, rank_of(beside));
}

/// The nodes between a QuantizeLinear and the one tensor of 8 bits that it depends on.
class ByteFunction {
 public:
  ByteFunction(const Node& last, const PassContext& context) : last_(last), context_(context) {}

  bool read() {
    if (!add(last_)) return false;
    while (!open_.empty()) {
      const Value* v = open_.back();
      open_.pop_back();
      if (is_byte(v)) {
        if (std::find(sources_.begin(), sources_.end(), v) == sources_.end()) sources_.push_back(v);
      } else if (v->producer() == nullptr || !add(*v->producer())) {
        return false;
      }
    }
    while (sources_.size() > 1)
      if (!open_table()) return false;
    // Constants of more axes would raise the rank.
    return sources_.size() == 1 && nodes_.size() > 1 && rank_of(sources_[0]) == rank_of(last_.output(0));
  }

  Patch patch() const {
    const std::vector<const Node*> nodes = in_order(nodes_);
    return make_region(kLookup, nodes, context_, {}, {}, shared(nodes));
  }

 private:
  /// What it makes is part of the function; its operands are looked at later.
  bool add(const Node& n) {
    if (std::find(nodes_.begin(), nodes_.end(), &n) != nodes_.end()) return true;
    if (nodes_.size() == kMaxNodes || !is_part(n)) return false;
    nodes_.push_back(&n);
    const size_t operands = operand_count(n, context_.model);
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.input(i);
      if (v == nullptr || is_number(v, n.output(0), context_.model.ir_version)) continue;
      if (i >= operands) return false;
      open_.push_back(v);
    }
    return true;
  }

  bool is_part(const Node& n) const {
    return &n.graph() == &last_.graph() && n.outputs().size() == 1 && n.output(0) != nullptr &&
           !is_held_in_floats(n) && operand_count(n, context_.model) > 0 &&
           (!is_region(n) || is_activation(n));
  }

  static bool is_activation(const Node& n) {
    constexpr std::string_view kKinds[] = {kLookup, kSilu, kHardSwish, kMish, kGelu, kGeluTanh};
    return n.inputs().size() == 1 &&
           std::find(std::begin(kKinds), std::end(kKinds), n.op_type) != std::end(kKinds);
  }

  /// One of several tensors that is itself a function of a tensor of 8 bits; best of another one of them.
  bool open_table() {
    const auto is_table = [](const Value* v) {
      return v->producer() != nullptr && is_region(*v->producer(), kLookup);
    };
    auto found = std::find_if(sources_.begin(), sources_.end(), [&](const Value* v) {
      return is_table(v) &&
             std::find(sources_.begin(), sources_.end(), v->producer()->input(0)) != sources_.end();
    });
    if (found == sources_.end()) found = std::find_if(sources_.begin(), sources_.end(), is_table);
    if (found == sources_.end()) return false;
    const Node& n = *(*found)->producer();
    sources_.erase(found);
    if (!add(n)) return false;
    for (const Value* v : open_) {
      const bool is_known =
          std::find(sources_.begin(), sources_.end(), v) != sources_.end() ||
          std::any_of(nodes_.begin(), nodes_.end(), [&](const Node* made) { return made->output(0) == v; });
      if (!is_known) sources_.push_back(v);
    }
    open_.clear();
    return true;
  }

  /// Those whose results are used elsewhere, too, and what these depend on.
  std::vector<const Node*> shared(const std::vector<const Node*>& nodes) const {
    std::unordered_set<const Node*> own;
    std::vector<const Node*> shared;
    for (size_t i = nodes.size(); i-- > 0;) {
      const Value* v = nodes[i]->output(0);
      const bool is_own = nodes[i] == &last_ || (!context_.is_pinned(v) && !context_.is_widely_used(v) &&
                                                 std::all_of(v->consumers().begin(), v->consumers().end(),
                                                             [&](const Node* c) { return own.contains(c); }));
      is_own ? (void)own.insert(nodes[i]) : shared.push_back(nodes[i]);
    }
    return shared;
  }

  const Node& last_;
  const PassContext& context_;
  std::vector<const Node*> nodes_;
  std::vector<const Value*> open_, sources_;
};

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "QuantizeLinear") || !read_quantization(n)) return std::nullopt;
  ByteFunction function(n, context);
  if (!function.read()) return std::nullopt;
  return function.patch();
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_lookup",
    .summary = "functions of one tensor of 8 bits become a table of 256 entries",
    .conditions =
        "QuantizeLinear behind element-wise operators and DequantizeLinear, with one scale for the tensor, "
        "uint8 "
        "or int8. All depends on one tensor of 8 bits and on constants of one element, which do not raise "
        "the "
        "rank; nothing is held in a floating-point type. What is used elsewhere, too, also stays.",
    .match = match,
};

}  // namespace assay::pass_fuse_lookup
