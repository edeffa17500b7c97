// Regions: immutable groups of nodes of the canonical graph that may run as one step. Regions may overlap;
// single nodes are regions, too. The selector chooses which of them run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "passes/pointwise_form.h"

namespace assay::engine {

struct AttentionForm;

/// One pointwise instruction on the result of a convolution or matrix product.
struct EpilogueStep {
  PointwiseForm form;
  const Node* node = nullptr;
  Value* operand = nullptr;  ///< the operand other than the running result; null for unary instructions
};

enum class RegionKind : uint8_t {
  kNode,       ///< one node
  kFused,      ///< a convolution or matrix product with its prologues and epilogue; an average with its end
  kPointwise,  ///< pointwise operators that feed each other, over one domain
  kAttention,  ///< products of queries, keys and values, with the softmax between and surrounding nodes
};

struct Region {
  RegionKind kind = RegionKind::kNode;
  /// In topological order.
  std::vector<const Node*> nodes;
  /// kNode: the node; kFused: the product; kPointwise: the node whose result leaves the region; kAttention:
  /// the softmax.
  const Node* main = nullptr;
  /// kFused: Transpose nodes on input 0 and 1 of `main`; null where there is none.
  const Node* transposed[2] = {nullptr, nullptr};
  std::vector<EpilogueStep> epilogue;
  /// kFused around an integer product: the conversion of its sums to float32 before the epilogue, a Cast
  /// after an addition of `sums_addend`, one int32 number per channel or column, if that is not null.
  std::vector<const Node*> sums_to_float;
  const Value* sums_addend = nullptr;
  /// kFused: a function of the result's 8 bits, after the epilogue; null when there is none. Only tactics
  /// that say so (TacticDef::looks_up) are given such a region.
  const Node* lookup = nullptr;
  /// kFused: a Transpose of the final result; null when there is none.
  const Node* result_transposed = nullptr;
  /// kAttention: its operands and their access.
  std::shared_ptr<const AttentionForm> attention;

  /// The outputs of the region. Only a single node has more than one.
  const std::vector<Value*>& outputs() const { return nodes.back()->outputs(); }
  Value* output(size_t i = 0) const { return nodes.back()->output(i); }
  /// The operand of `main` before a Transpose that the region includes.
  Value* operand(size_t i) const {
    return i < 2 && transposed[i] != nullptr ? transposed[i]->input(0) : main->input(i);
  }
};

/// Operators that a Fused region may be built around (OpFacts::product).
bool is_main_operator(const Node& n, const Model& model);
bool is_integer_product(const Node& n, const Model& model);

Region node_region(const Node& n);
/// `nodes` in topological order; the last one's result is the output.
Region pointwise_region(std::vector<const Node*> nodes);

/// Names of the ONNX nodes that a region implements, each once.
std::vector<std::string> origins_of(const Region& region);

/// The instruction that `n` applies to `running`, which must be its first operand unless the instruction is
/// commutative; nothing if an epilogue does not support it.
std::optional<EpilogueStep> epilogue_step(const Node& n, const Value* running, const Model& model);

}  // namespace assay::engine
