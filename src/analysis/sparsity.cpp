#include "analysis/sparsity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/python_repr.h"
#include "base/resident_memory.h"
#include "ops/node_facts.h"

namespace assay {
namespace {

/// TensorRT's own operators, which occur in files quantized by its tools.
constexpr std::string_view kKeepsAxes[] = {"TRT_FP8QuantizeLinear", "TRT_FP8DequantizeLinear"};
/// Producers before which no weight is expected, so that no warning is needed.
/// A list: Polygraphy is silent about these and warns of all others, and its lines are followed.
constexpr std::string_view kEnds[] = {"LayerNormalization", "Reshape", "Concat", "Slice", "Shape",
                                      "Unsqueeze",          "Gather",  "Mul",    "Add"};

template <size_t N>
bool contains(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

/// A weight, and the axis if it has one that can be pruned along.
struct Candidate {
  Value* weight;
  std::optional<size_t> axis;
};

class TargetFinder {
 public:
  TargetFinder(const Model& model, SparsityTargets& targets) : model_(model), targets_(targets) {}
  void node(const Node& n);
  const std::vector<Candidate>& found() const { return found_; }

 private:
  void operand(Value* v, size_t axis, bool is_matrix);
  void add(Value* weight, std::optional<size_t> axis);

  const Model& model_;
  SparsityTargets& targets_;
  std::vector<Candidate> found_;
  std::unordered_map<const Value*, size_t> index_;
};

bool is_set(const Node& n, std::string_view attribute) {
  const Attribute* a = n.find_attribute(attribute);
  const auto* value = a != nullptr ? a->get_if<int64_t>() : nullptr;
  return value != nullptr && *value == 1;
}

void TargetFinder::node(const Node& n) {
  if (!n.domain.empty()) return;
  if (n.op_type == "Conv") {
    operand(n.input(1), 1, /*is_matrix=*/false);
  } else if (n.op_type == "MatMul" || n.op_type == "Gemm") {
    const bool is_gemm = n.op_type == "Gemm";
    operand(n.input(0), is_gemm && is_set(n, "transA") ? 0 : 1, /*is_matrix=*/true);
    operand(n.input(1), is_gemm && is_set(n, "transB") ? 1 : 0, /*is_matrix=*/true);
  }
}

/// The axis of a Transpose's input that becomes `axis` of its output.
std::optional<size_t> before_transpose(const Node& transpose, size_t axis, size_t rank) {
  const Attribute* a = transpose.find_attribute("perm");
  const auto* perm = a != nullptr ? a->get_if<std::vector<int64_t>>() : nullptr;
  if (perm == nullptr) return axis < rank ? std::optional(rank - 1 - axis) : std::nullopt;
  if (perm->size() != rank || axis >= rank) return std::nullopt;
  const int64_t before = (*perm)[axis];
  if (before < 0 || static_cast<size_t>(before) >= rank) return std::nullopt;
  return static_cast<size_t>(before);
}

void TargetFinder::operand(Value* v, size_t axis, bool is_matrix) {
  std::vector<const Node*> transposes;  // from the product towards the weight
  while (v != nullptr && !v->is_constant()) {
    const Node* producer = v->producer();
    if (producer == nullptr || contains(kEnds, producer->op_type)) return;
    if (producer->op_type == "Transpose") {
      transposes.push_back(producer);
    } else if (!facts_of(*producer, model_).recodes && !contains(kKeepsAxes, producer->op_type)) {
      targets_.unreached.push_back({v->name(), producer->name, producer->op_type});
      return;
    }
    v = producer->input(0);
  }
  if (v == nullptr || !v->type.has_shape()) return;
  const size_t rank = v->type.dims->size();
  std::optional<size_t> at;
  if (axis < rank && (!is_matrix || rank == 2)) at = axis;
  for (const Node* t : transposes)
    if (at) at = before_transpose(*t, *at, rank);
  add(v, at);
}

void TargetFinder::add(Value* weight, std::optional<size_t> axis) {
  const auto [it, is_new] = index_.emplace(weight, found_.size());
  if (is_new)
    found_.push_back({weight, axis});
  else
    found_[it->second].axis = axis;
}

using Skipped = SparsityTargets::Skipped;

/// Nothing for one that can be pruned.
std::optional<Skipped> why_skipped(const Candidate& c) {
  const Value& w = *c.weight;
  const DType type = w.type.dtype;
  const auto skipped = [&](Skipped::Why why, std::string reason) {
    return Skipped{.weight = &w, .axis = c.axis, .why = why, .reason = std::move(reason)};
  };
  if (type != DType::kFloat32 && type != DType::kFloat16 && type != DType::kBFloat16)
    return skipped(Skipped::Why::kType, fmt::format("unsupported type: {}", dtype_name(type)));
  if (!w.tensor().defined()) return skipped(Skipped::Why::kNoData, "its data were not loaded");
  const std::vector<int64_t>& shape = w.tensor().shape().dims();
  if (!c.axis)
    return skipped(Skipped::Why::kNoAxis,
                   fmt::format("{} is not the shape of a matrix that is summed over along one axis",
                               python_list_repr(shape)));
  if (shape[*c.axis] % 4 == 0) return std::nullopt;
  return skipped(Skipped::Why::kNotInFours,
                 fmt::format("the length of axis {} ({} in {}) is not a multiple of 4", *c.axis,
                             shape[*c.axis], python_list_repr(shape)));
}

/// True for the bits of +0 or -0.
template <typename Bits>
bool groups_are_sparse(const char* data, int64_t outer, int64_t groups, int64_t inner) {
  const auto is_zero = [data](int64_t i) {
    Bits bits;
    std::memcpy(&bits, data + i * static_cast<int64_t>(sizeof bits), sizeof bits);
    return static_cast<Bits>(bits << 1) == 0;
  };
  for (int64_t group = 0; group < outer * groups; ++group) {
    const int64_t first = group * 4 * inner;
    for (int64_t i = first; i < first + inner; ++i) {
      const int zeros = is_zero(i) + is_zero(i + inner) + is_zero(i + 2 * inner) + is_zero(i + 3 * inner);
      if (zeros < 2) return false;
    }
  }
  return true;
}

}  // namespace

SparsityTargets find_sparsity_targets(const Model& model,
                                      const std::function<bool(const Value&)>& is_skipped) {
  SparsityTargets targets;
  TargetFinder finder(model, targets);
  for (const auto& n : model.graph->nodes()) finder.node(*n);
  for (const Candidate& c : finder.found()) {
    if (is_skipped && is_skipped(*c.weight))
      targets.skipped.push_back({.weight = c.weight,
                                 .axis = c.axis,
                                 .why = Skipped::Why::kMarked,
                                 .reason = "it was marked to skip pruning"});
    else if (std::optional<Skipped> skipped = why_skipped(c))
      targets.skipped.push_back(*std::move(skipped));
    else
      targets.eligible.push_back({c.weight, *c.axis});
  }
  return targets;
}

bool has_2_4_sparsity(const UnalignedTensor& tensor, size_t axis) {
  const Shape& shape = tensor.shape();
  require(axis < shape.size() && shape[axis] % 4 == 0, ErrorCode::kInternal,
          "axis {} of a tensor of shape {} has no groups of four", axis, shape.str());
  const int64_t outer = shape.numel(0, axis), inner = shape.numel(axis + 1, shape.size());
  const auto* data = static_cast<const char*>(tensor.data());
  return bit_width(tensor.dtype()) == 32 ? groups_are_sparse<uint32_t>(data, outer, shape[axis] / 4, inner)
                                         : groups_are_sparse<uint16_t>(data, outer, shape[axis] / 4, inner);
}

SparsityReport check_sparsity(const Model& model, SparsityObserver& observer) {
  SparsityReport report{.targets = find_sparsity_targets(model), .is_sparse = {}};
  observer.on_targets(report.targets);
  for (const auto& [weight, axis] : report.targets.eligible) {
    const UnalignedTensor& data = weight->tensor();
    report.is_sparse.push_back(has_2_4_sparsity(data, axis));
    observer.on_checked(*weight, report.is_sparse.back());
    if (is_reclaimable(data.data())) drop_resident_pages(data.data(), data.nbytes());
  }
  observer.on_end(report.targets);
  return report;
}

}  // namespace assay
