#include "shard/part_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "graph/read.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 4> kArithmetic = {"Add", "Sub", "Mul", "Div"};
constexpr std::array<std::string_view, 13> kOfOne = {"Cast", "Identity", "Sigmoid",    "Relu", "Tanh",
                                                     "Gelu", "Elu",      "Erf",        "Neg",  "Clip",
                                                     "Sqrt", "Softplus", "HardSigmoid"};
/// What works along the last dimension, or may.
constexpr std::array<std::string_view, 9> kAcross = {"LayerNormalization",
                                                     "RMSNormalization",
                                                     "SimplifiedLayerNormalization",
                                                     "SkipSimplifiedLayerNormalization",
                                                     "Softmax",
                                                     "LogSoftmax",
                                                     "ReduceMean",
                                                     "ReduceSum",
                                                     "ReduceMax"};

template <size_t N>
bool is_one_of(const Node& n, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), n.op_type) != names.end();
}

/// A value whose columns are still those of the MatMul, or something made of them.
struct Place {
  const Value* value;
  bool is_columns;
};

}  // namespace

PartWalk::Result PartWalk::run(const Value* columns) const {
  Result r;
  std::vector<Place> open = {{columns, true}};
  std::unordered_set<const Value*> seen = {columns};
  while (!open.empty()) {
    const Place p = open.back();
    open.pop_back();
    const auto& graph_outputs = p.value->graph().outputs;
    if (std::find(graph_outputs.begin(), graph_outputs.end(), p.value) != graph_outputs.end()) {
      r.leak = fmt::format("'{}' is an output of the model", p.value->name());
      return r;
    }
    for (Node* n : search_.users(p.value)) {
      if (std::find(ends_.begin(), ends_.end(), n) != ends_.end()) continue;
      if (n->op_type == "MatMul" || n->op_type == "Gemm" || (p.is_columns && is_one_of(*n, kAcross))) {
        r.leak = fmt::format("node {} takes it for the whole", n->label());
        return r;
      }
      const bool arithmetic = is_one_of(*n, kArithmetic), elementwise = arithmetic || is_one_of(*n, kOfOne);
      if (!elementwise && r.not_elementwise.empty())
        r.not_elementwise = fmt::format("node {} follows", n->label());
      if (arithmetic && p.is_columns && n->inputs().size() == 2) {
        const size_t other = n->input(0) == p.value ? 1 : 0;
        if (n->input(other) != nullptr && n->input(other)->is_constant())
          r.column_operands.push_back({n, other});
      }
      for (const Value* out : n->outputs())
        if (out != nullptr && seen.insert(out).second) open.push_back({out, p.is_columns && elementwise});
    }
  }
  return r;
}

}  // namespace assay
