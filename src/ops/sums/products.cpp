// Sums of products: matrix products, contractions, convolutions.
#include <algorithm>
#include <map>

#include "ops/contrib/fused_activation.h"
#include "ops/contrib/fused_operands.h"
#include "ops/eval_util.h"
#include "ops/nn/conv_rules.h"
#include "ops/nn/einsum_equation.h"
#include "ops/sums/sums.h"

namespace assay {
namespace {

bool are_floats(const EvalContext& c, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!c.input(i).defined() || c.input(i).dtype() != DType::kFloat64) return false;
  return true;
}

/// A stack of matrices whose batches broadcast.
struct Matrices {
  Shape shape;
  std::vector<int64_t> strides;
  const double* data;

  size_t rows() const { return shape.size() - 2; }
  size_t columns() const { return shape.size() - 1; }
  /// The first element of one of `batches`.
  const double* batch(const Shape& batches, int64_t number) const {
    const Shape outer(shape.begin(), shape.end() - 2);
    std::vector<int64_t> steps(batches.size(), 0);
    for (size_t d = 0; d < outer.size(); ++d)
      if (outer[d] != 1) steps[batches.size() - outer.size() + d] = strides[d];
    OffsetCursor at(batches.dims(), steps);
    at.seek(number);
    return data + at.offset();
  }
};

Matrices as_matrices(const Tensor& t) { return {t.shape(), t.shape().strides(), t.data<double>()}; }

/// Element i of the product of two stacks.
Addends addends_of_product(const Matrices& a, const Matrices& b, int64_t i) {
  const int64_t k = a.shape.back(), n = b.shape.back(), m = a.shape[a.rows()];
  const Shape batches =
      broadcast(Shape(a.shape.begin(), a.shape.end() - 2), Shape(b.shape.begin(), b.shape.end() - 2));
  const int64_t number = i / (m * n);
  const double* x = a.batch(batches, number) + i / n % m * a.strides[a.rows()];
  const double* y = b.batch(batches, number) + i % n * b.strides[b.columns()];
  Addends addends;
  for (int64_t j = 0; j < k; ++j)
    addends.terms.push_back(x[j * a.strides[a.columns()]] * y[j * b.strides[b.rows()]]);
  return addends;
}

/// Offsets of the taps of a window at one position that are in the image, and the taps' numbers.
struct Taps {
  std::vector<int64_t> offsets, taps;
};

Taps taps_at(const kernels::Window& w, int64_t position) {
  const size_t rank = w.rank();
  std::vector<int64_t> at(rank);
  for (size_t d = rank; d-- > 0; position /= w.out[d]) at[d] = position % w.out[d];
  Taps found;
  for (int64_t tap = 0; tap < w.taps(); ++tap) {
    int64_t rest = tap, offset = 0, step = 1;
    bool inside = true;
    for (size_t d = rank; d-- > 0; rest /= w.kernel[d], step *= w.in[d]) {
      const int64_t x = at[d] * w.strides[d] - w.begin[d] + rest % w.kernel[d] * w.dilations[d];
      inside = inside && x >= 0 && x < w.in[d];
      offset += x * step;
    }
    if (!inside) continue;
    found.offsets.push_back(offset);
    found.taps.push_back(tap);
  }
  return found;
}

double bias_of(const EvalContext& c, size_t input, int64_t channel) {
  return c.inputs().size() > input && c.input(input).defined() ? c.input(input).data<double>()[channel] : 0;
}

}  // namespace

void set_sum_of_products(Addends addends, double factor, double offset, SummedElement& out) {
  out.sums.push_back(std::move(addends));
  out.result = [=](std::span<const double> sums) { return factor * sums[0] + offset; };
}

bool sums_of_mat_mul(EvalContext& c, int64_t i, SummedElement& out) {
  if (!are_floats(c, 2)) return false;
  Matrices a = as_matrices(c.input(0)), b = as_matrices(c.input(1));
  if (a.shape.empty() || b.shape.empty()) return false;
  // A vector is a row on the left and a column on the right.
  if (a.shape.size() == 1) a.shape = Shape{1, a.shape[0]}, a.strides = a.shape.strides();
  if (b.shape.size() == 1) b.shape = Shape{b.shape[0], 1}, b.strides = b.shape.strides();
  set_sum_of_products(addends_of_product(a, b, i), 1, 0, out);
  return true;
}

bool sums_of_fused_product(EvalContext& c, int64_t i, SummedElement& out) {
  if (!are_floats(c, 2)) return false;
  Matrices operands[2];
  for (size_t k = 0; k < 2; ++k) {
    const Matrices given = as_matrices(c.input(k));
    if (given.shape.size() < 2) return false;
    operands[k].data = given.data;
    for (const size_t d : fused_operand_order(c, k, given.shape.size())) {
      operands[k].shape.push_back(given.shape[d]);
      operands[k].strides.push_back(given.strides[d]);
    }
  }
  set_sum_of_products(addends_of_product(operands[0], operands[1], i), c.attr_float("alpha"), 0, out);
  return true;
}

bool sums_of_gemm(EvalContext& c, int64_t i, SummedElement& out) {
  if (!are_floats(c, 2)) return false;
  const bool ta = c.attr_int("transA") != 0, tb = c.attr_int("transB") != 0;
  const Shape &a = c.shape(0), &b = c.shape(1);
  const int64_t k = a[ta ? 0 : 1], m = a[ta ? 1 : 0], n = b[tb ? 0 : 1], row = i / n, column = i % n;
  const double *x = c.input(0).data<double>(), *y = c.input(1).data<double>();
  Addends addends;
  for (int64_t j = 0; j < k; ++j)
    addends.terms.push_back(x[ta ? j * m + row : row * k + j] * y[tb ? column * k + j : j * n + column]);
  double offset = 0;
  if (c.inputs().size() > 2 && c.input(2).defined()) {
    const Shape product{m, n};
    const std::vector<int64_t> strides = broadcast_strides(c.shape(2), product);
    OffsetCursor at(product.dims(), strides);
    at.seek(i);
    offset = c.attr_float("beta") * c.input(2).data<double>()[at.offset()];
  }
  const double factor = c.attr_float("alpha");
  if (factor != 0) addends.bias = offset / factor;
  set_sum_of_products(std::move(addends), factor, 0, out);
  return true;
}

bool sums_of_einsum(EvalContext& c, int64_t i, SummedElement& out) {
  if (!are_floats(c, c.inputs().size())) return false;
  std::vector<int> ranks;
  for (const Tensor& t : c.inputs()) ranks.push_back(t.rank());
  const EinsumEquation e = parse_einsum(c.attr_string("equation"), ranks);
  std::map<EinsumLabel, int64_t> extents;
  for (size_t k = 0; k < ranks.size(); ++k)
    for (size_t d = 0; d < e.inputs[k].size(); ++d) {
      int64_t& extent = extents.try_emplace(e.inputs[k][d], 1).first->second;
      extent = std::max(extent, c.shape(k)[d]);
    }
  EinsumTerm summed;
  for (const auto& [label, extent] : extents)
    if (std::ranges::find(e.output, label) == e.output.end()) summed.push_back(label);
  const auto sizes_of = [&](const EinsumTerm& labels) {
    std::vector<int64_t> sizes;
    for (const EinsumLabel label : labels) sizes.push_back(extents.at(label));
    return sizes;
  };
  const auto steps_of = [&](size_t k, const EinsumTerm& labels) {
    const std::vector<int64_t> strides = c.shape(k).strides();
    std::vector<int64_t> steps;
    for (const EinsumLabel label : labels) {
      int64_t step = 0;
      for (size_t d = 0; d < e.inputs[k].size(); ++d)
        if (e.inputs[k][d] == label && c.shape(k)[d] != 1) step += strides[d];
      steps.push_back(step);
    }
    return steps;
  };
  const std::vector<int64_t> kept = sizes_of(e.output), inner = sizes_of(summed);
  Addends addends{.terms = std::vector<double>(static_cast<size_t>(Shape(inner).numel()), 1.0), .inner = 0};
  for (size_t k = 0; k < ranks.size(); ++k) {
    const std::vector<int64_t> outer_steps = steps_of(k, e.output), steps = steps_of(k, summed);
    OffsetCursor first(kept, outer_steps), at(inner, steps);
    first.seek(i);
    const double* x = c.input(k).data<double>() + first.offset();
    for (double& t : addends.terms) {
      t *= x[at.offset()];
      at.next();
    }
  }
  if (inner.size() > 1) addends.inner = inner.back();
  set_sum_of_products(std::move(addends), 1, 0, out);
  return true;
}

bool sums_of_conv(EvalContext& c, int64_t i, SummedElement& out) {
  if (!are_floats(c, 2)) return false;
  const ConvPlan plan = plan_conv(c, c.shape(0), c.shape(1));
  const int64_t pixels = plan.window.out_size(), taps = plan.window.taps(), size = plan.window.in_size();
  const int64_t channel = i / pixels % plan.size.out_channels, batch = i / pixels / plan.size.out_channels;
  const int64_t depth = plan.size.in_channels / plan.size.groups;
  const int64_t group = channel / (plan.size.out_channels / plan.size.groups);
  const Taps at = taps_at(plan.window, i % pixels);
  const double* x = c.input(0).data<double>() + (batch * plan.size.in_channels + group * depth) * size;
  const double* w = c.input(1).data<double>() + channel * depth * taps;
  Addends addends{.terms = {}, .inner = static_cast<int64_t>(at.taps.size())};
  for (int64_t d = 0; d < depth; ++d)
    for (size_t k = 0; k < at.taps.size(); ++k)
      addends.terms.push_back(x[d * size + at.offsets[k]] * w[d * taps + at.taps[k]]);
  addends.bias = bias_of(c, 2, channel);
  set_sum_of_products(std::move(addends), 1, 0, out);
  return true;
}

bool sums_of_conv_transpose(EvalContext& c, int64_t i, SummedElement& out) {
  if (!are_floats(c, 2)) return false;
  const ConvPlan plan = plan_conv_transpose(c, c.shape(0), c.shape(1));
  const kernels::Window& w = plan.window;
  const int64_t pixels = w.in_size(), places = w.out_size(), taps = w.taps();
  const int64_t channel = i / pixels % plan.size.out_channels, batch = i / pixels / plan.size.out_channels;
  const int64_t depth = plan.size.in_channels / plan.size.groups,
                width = plan.size.out_channels / plan.size.groups;
  const int64_t group = channel / width;
  // The input's elements whose window holds the element, and by which tap.
  std::vector<std::pair<int64_t, int64_t>> found;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t rest = tap, pixel = i % pixels, place = 0, step = 1;
    bool inside = true;
    for (size_t d = w.rank(); d-- > 0; rest /= w.kernel[d], pixel /= w.in[d], step *= w.out[d]) {
      const int64_t from = pixel % w.in[d] + w.begin[d] - rest % w.kernel[d] * w.dilations[d];
      inside = inside && from >= 0 && from % w.strides[d] == 0 && from / w.strides[d] < w.out[d];
      place += from / w.strides[d] * step;
    }
    if (inside) found.emplace_back(place, tap);
  }
  Addends addends;
  for (int64_t d = group * depth; d < (group + 1) * depth; ++d)
    for (const auto& [place, tap] : found)
      addends.terms.push_back(
          c.input(0).data<double>()[(batch * plan.size.in_channels + d) * places + place] *
          c.input(1).data<double>()[(d * width + channel % width) * taps + tap]);
  addends.inner = static_cast<int64_t>(found.size());
  addends.bias = bias_of(c, 2, channel);
  set_sum_of_products(std::move(addends), 1, 0, out);
  return true;
}

/// A fused operator's last step on its sum.
namespace {

void end_with_activation(const std::string& name, ActivationParameters parameters, double addend,
                         SummedElement& out) {
  out.result = [=, sum = std::move(out.result)](std::span<const double> sums) {
    Steps values;
    return activate(values, values.given(Tensor::scalar<double>(sum(sums) + addend)), name, parameters)
        .value.item<double>();
  };
}

std::string activation_of(const OpContext& c) {
  return c.has_attr("activation") ? c.attr_string("activation") : "";
}

}  // namespace

bool sums_of_fused_conv(EvalContext& c, int64_t i, SummedElement& out) {
  if (!sums_of_conv(c, i, out)) return false;
  const double addend = c.has_input(3) ? c.input(3).data<double>()[i] : 0;
  end_with_activation(activation_of(c), c.attr_floats("activation_params"), addend, out);
  return true;
}

bool sums_of_fused_gemm(EvalContext& c, int64_t i, SummedElement& out) {
  if (!sums_of_gemm(c, i, out)) return false;
  end_with_activation(activation_of(c), fused_gemm_parameters(c), 0, out);
  return true;
}

}  // namespace assay
