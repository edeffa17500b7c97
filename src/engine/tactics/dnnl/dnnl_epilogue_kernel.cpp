#include "engine/tactics/dnnl/dnnl_epilogue_kernel.h"

#include "engine/runtime/arena.h"

namespace assay::engine {

namespace {

using dnnl::algorithm;
using kernels::PointwiseOp;

struct Eltwise {
  PointwiseOp op;
  algorithm algo;
};

constexpr Eltwise kEltwise[] = {
    {PointwiseOp::kAbs, algorithm::eltwise_abs},
    {PointwiseOp::kAffine, algorithm::eltwise_linear},
    {PointwiseOp::kClip, algorithm::eltwise_clip},
    {PointwiseOp::kElu, algorithm::eltwise_elu},
    {PointwiseOp::kGelu, algorithm::eltwise_gelu_erf},
    {PointwiseOp::kGeluTanh, algorithm::eltwise_gelu_tanh},
    {PointwiseOp::kHardSwish, algorithm::eltwise_hardswish},
    {PointwiseOp::kLeakyRelu, algorithm::eltwise_relu},
    {PointwiseOp::kMish, algorithm::eltwise_mish},
    {PointwiseOp::kRelu, algorithm::eltwise_relu},
    {PointwiseOp::kSigmoid, algorithm::eltwise_logistic},
    {PointwiseOp::kSquare, algorithm::eltwise_square},
    {PointwiseOp::kSqrt, algorithm::eltwise_sqrt},
    {PointwiseOp::kTanh, algorithm::eltwise_tanh},
};

constexpr Eltwise kBinary[] = {
    {PointwiseOp::kAdd, algorithm::binary_add}, {PointwiseOp::kMul, algorithm::binary_mul},
    {PointwiseOp::kMax, algorithm::binary_max}, {PointwiseOp::kMin, algorithm::binary_min},
    {PointwiseOp::kSub, algorithm::binary_sub}, {PointwiseOp::kDiv, algorithm::binary_div},
};

template <size_t N>
const Eltwise* find(const Eltwise (&table)[N], PointwiseOp op) {
  for (const Eltwise& e : table)
    if (e.op == op) return &e;
  return nullptr;
}

/// Runs of operations that oneDNN has as two.
bool is_composed(PointwiseOp op) { return op == PointwiseOp::kHardSigmoid || op == PointwiseOp::kSilu; }

/// On aarch64 oneDNN accepts these as post-ops, and its results are those without them (seen in 2.7).
constexpr bool is_left_out([[maybe_unused]] PointwiseOp op) {
#ifdef __aarch64__
  return op == PointwiseOp::kHardSwish || op == PointwiseOp::kMish;
#else
  return false;
#endif
}

/// A unary post-op.
struct Unary {
  algorithm algo;
  float a, b;
  bool operator==(const Unary&) const = default;
};

std::vector<Unary> unary_post_ops(PointwiseOp op, float a, float b) {
  if (op == PointwiseOp::kHardSigmoid)
    return {{algorithm::eltwise_linear, a, b}, {algorithm::eltwise_clip, 0, 1}};
  if (op == PointwiseOp::kSilu) return {{algorithm::eltwise_swish, 1, 0}};
  return {{find(kEltwise, op)->algo, a, b}};
}

/// An operand of a spec beside a part of the result, as oneDNN sees it.
struct Operand {
  dnnl::memory::desc desc;
  int64_t offset;
};

/// Whole operands are cut as the result is; in others extents are 1 where they repeat.
Operand operand_of(const EpilogueSpec::Entry& e, const Shape& result, const Box& part) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
  if (e.shape.numel() == result.numel())
    return {part_desc(result, e.format.layout, part), part_offset(result, e.format.layout, part) * kWidth};
  Shape aligned(std::vector<int64_t>(result.size(), 1));
  for (size_t k = 0; k < std::min(result.size(), e.shape.size()); ++k)
    aligned[result.size() - 1 - k] = e.shape[e.shape.size() - 1 - k];
  Box own = whole_box(aligned);
  for (size_t d = 0; d < aligned.size(); ++d)
    if (aligned[d] != 1) {
      own.begin[d] = part.begin[d];
      own.size[d] = part.size[d];
    }
  return {part_desc(aligned, {}, own), part_offset(aligned, {}, own) * kWidth};
}

}  // namespace

std::string epilogue_refusal(const EpilogueSpec& spec) {
  std::vector<Unary> unary;
  for (const EpilogueSpec::Entry& e : spec.entries) {
    const bool known = e.position >= 0 ? find(kBinary, e.op) != nullptr
                                       : is_composed(e.op) || find(kEltwise, e.op) != nullptr;
    if (!known) return fmt::format("oneDNN has no post-op for {}", kernels::pointwise_name(e.op));
    if (e.position >= 0) continue;
    if (is_left_out(e.op))
      return fmt::format("oneDNN leaves out {} after another operation here", kernels::pointwise_name(e.op));
    // Its kernels run the second of two post-ops of one algorithm with the numbers of the first (seen
    // in 2.7).
    for (const Unary& u : unary_post_ops(e.op, e.a, e.b)) {
      for (const Unary& earlier : unary)
        if (u.algo == earlier.algo && u != earlier)
          return fmt::format("oneDNN mixes up the numbers of two {} in one epilogue",
                             kernels::pointwise_name(e.op));
      unary.push_back(u);
    }
  }
  return {};
}

EpilogueSpec post_op_spec(const StepReader& r, size_t inputs, const Shape& result, Layout layout) {
  EpilogueSpec spec = epilogue_spec(r, inputs);
  const std::string refusal = epilogue_refusal(spec);
  StepReader::check(refusal.empty(), "{}", refusal);
  for (const EpilogueSpec::Entry& e : spec.entries) {
    if (e.position < 0) continue;
    const std::string& name = r.input(static_cast<size_t>(e.position)).name;
    const bool whole = e.shape.numel() == result.numel();
    StepReader::check(e.format.layout.is_row() || (e.shape == result && e.format.layout == layout),
                      "the operand '{}' does not lie as the result does", name);
    for (size_t k = 0; !whole && k < e.shape.size(); ++k) {
      const int64_t extent = e.shape[e.shape.size() - 1 - k];
      StepReader::check(extent == 1 || (k < result.size() && extent == result[result.size() - 1 - k]),
                        "the operand '{}' of shape {} does not cover the result {}", name, e.shape.str(),
                        result.str());
    }
  }
  // What is added in place must be what lies there.
  if (!r.step().in_place.empty()) {
    const int entry = accumulating_entry(spec, r.step());
    StepReader::check(r.step().in_place.size() == 1 && entry >= 0 &&
                          spec.entries[static_cast<size_t>(entry)].may_accumulate &&
                          spec.entries[static_cast<size_t>(entry)].shape.numel() == result.numel() &&
                          spec.entries[static_cast<size_t>(entry)].format.layout == layout,
                      "it cannot add to input {} in its place", r.step().in_place[0].second);
  }
  return spec;
}

int accumulating_entry(const EpilogueSpec& spec, const Step& step) {
  for (const auto& [out, in] : step.in_place)
    for (size_t i = 0; i < spec.entries.size(); ++i)
      if (out == 0 && spec.entries[i].position == in) return static_cast<int>(i);
  return -1;
}

PostOps make_post_ops(const EpilogueSpec& spec, const Shape& extents, const Box& part, int accumulate) {
  PostOps result;
  for (size_t i = 0; i < spec.entries.size(); ++i) {
    const EpilogueSpec::Entry& e = spec.entries[i];
    if (e.position < 0) {
      for (const Unary& u : unary_post_ops(e.op, e.a, e.b)) result.ops.append_eltwise(1, u.algo, u.a, u.b);
    } else if (static_cast<int>(i) == accumulate) {
      result.ops.append_sum(1);
    } else {
      const Operand operand = operand_of(e, extents, part);
      const int arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(result.ops.len()) | DNNL_ARG_SRC_1;
      result.bindings.push_back({arg, operand.desc, static_cast<size_t>(e.position), operand.offset});
      result.ops.append_binary(find(kBinary, e.op)->algo, operand.desc);
    }
  }
  return result;
}

dnnl::primitive_attr make_attributes(const PostOps& post_ops) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (post_ops.ops.len() > 0) attributes.set_post_ops(post_ops.ops);
  return attributes;
}

int64_t PackedWeights::add(int64_t key, const dnnl::memory::desc& desc) {
  for (const Place& p : places_)
    if (p.key == key && p.desc == desc) return p.offset;
  places_.push_back({key, bytes_, desc});
  bytes_ += static_cast<int64_t>(align_up(desc.get_size()));
  return places_.back().offset;
}

std::string PackedWeights::str() const {
  std::string text;
  for (const Place& p : places_)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", p.key, format_text(p.desc));
  return text;
}

Tensor PackedWeights::pack(
    const std::function<std::pair<Tensor, dnnl::memory::desc>(int64_t key)>& part) const {
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{bytes_});
  for (const Place& p : places_) {
    const auto [weights, given] = part(p.key);
    char* const to = static_cast<char*>(packed.mutable_data()) + p.offset;
    // Beside the weights there are channels that fill up blocks, and what aligns the next place.
    const size_t size = align_up(p.desc.get_size()),
                 filled = weights.nbytes() == p.desc.get_size() ? weights.nbytes() : 0;
    std::fill_n(to + filled, size - filled, char{0});
    engine::pack(weights, given, p.desc, to);
  }
  return packed;
}

}  // namespace assay::engine
