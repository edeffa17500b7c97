// Steps of the tactic dnnl_matmul: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/dnnl/dnnl_epilogue_kernel.h"
#include "engine/tactics/product/matrix_kernel.h"

namespace assay::engine::tactic_dnnl_matmul {

using dnnl::memory;
using MatMul = dnnl::matmul;

/// Multiplications that are worth waking a thread for.
inline constexpr int64_t kMinWork = 1 << 14;

/// A part of an operand, where the extents of the result that it shares are cut: `row` and `column` say which
/// of its last two are.
inline Box operand_part(const Matrix& m, const Box& part, bool row, bool column) {
  Box box = whole_box(m.shape);
  const size_t rank = m.shape.size();
  for (size_t d = 0; d < rank; ++d) {
    const bool cut = d + 2 < rank ? m.shape[d] != 1 : d + 2 == rank ? row : column;
    if (!cut) continue;
    box.begin[d] = part.begin[d];
    box.size[d] = part.size[d];
  }
  return box;
}

/// oneDNN takes descriptions that differ in strides of extents of 1 alone for the same, and gives one the
/// primitive that was made for the other; but it asks these strides how to compute, and for how much scratch
/// memory. So they are always those of a dense tensor.
inline memory::desc desc_of(const Matrix& m, const Box& part) {
  std::vector<int64_t> strides = m.strides;
  for (size_t d = strides.size(); d-- > 0;)
    if (part.size[d] == 1) strides[d] = d + 1 < strides.size() ? strides[d + 1] * part.size[d + 1] : 1;
  return {to_dnnl(part.size.dims()), memory::data_type::f32, to_dnnl(strides)};
}

inline int64_t bytes_before(const Matrix& m, const Box& part) {
  int64_t offset = 0;
  for (size_t d = 0; d < m.shape.size(); ++d) offset += part.begin[d] * m.strides[d];
  return offset * static_cast<int64_t>(sizeof(float));
}

/// The part of each thread: matrices of a stack if there are enough, else rows or columns, whichever are
/// more.
inline std::vector<Box> parts_of(const MatrixOperands& p, int64_t threads) {
  const Shape& out = p.out.shape;
  const size_t rank = out.size();
  size_t axis = out[rank - 2] > out[rank - 1] ? rank - 2 : rank - 1;
  for (size_t d = rank - 2; d-- > 0;)
    if (out[d] >= threads) axis = d;
  // Whole vectors of columns, and rows as the kernels' tiles have them.
  const int64_t unit = axis == rank - 1 ? 16 : axis == rank - 2 ? 8 : 1;
  const int64_t work = out.numel() * p.a.shape.back();
  std::vector<Box> parts;
  const std::vector<int64_t> bounds =
      bounds_of(out[axis], std::min(threads, std::max<int64_t>(1, work / kMinWork)), unit);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    Box part = whole_box(out);
    part.begin[axis] = bounds[i];
    part.size[axis] = bounds[i + 1] - bounds[i];
    parts.push_back(std::move(part));
  }
  return parts;
}

inline Box right_part(const MatrixOperands& p, const Box& part) {
  return operand_part(p.b, part, false, true);
}

inline MatMul::primitive_desc describe(const MatrixOperands& p, const Box& part, const PostOps& post_ops) {
  const Box right = right_part(p, part);
  const memory::desc a = desc_of(p.a, operand_part(p.a, part, true, false)), out = desc_of(p.out, part),
                     b = p.packed ? any_desc(right.size) : desc_of(p.b, right);
  const dnnl::primitive_attr attributes = make_attributes(post_ops);
  const OneThread alone;
  if (!p.has_bias) return {MatMul::desc(a, b, out), attributes, dnnl_engine()};
  Shape bias(std::vector<int64_t>(p.out.shape.size(), 1));
  bias[bias.size() - 1] = part.size.back();
  return {MatMul::desc(a, b, memory_desc(bias, {}), out), attributes, dnnl_engine()};
}

inline int64_t weights_key(const Box& part) { return part.begin.back(); }

/// A matrix in a step.
struct MatrixFields {
  std::vector<int64_t> shape, strides;

  void fields(FieldVisitor& visit, const std::string& name) {
    visit(name + "_shape", shape);
    visit(name + "_strides", strides, shape.size(), {0});
  }
};

struct StepFields {
  MatrixFields a, b, out;
  bool packed = false;

  void fields(FieldVisitor& visit) {
    a.fields(visit, "a");
    b.fields(visit, "b");
    out.fields(visit, "out");
    visit("packed", packed);
  }
};

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_dnnl_matmul
