// Einsum: products of the inputs summed over every index that the output lacks. Inputs are contracted from
// left to right; each contraction is a batch of matrix products.
#include <algorithm>
#include <map>

#include "kernels/gemm.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/multiply_accumulates.h"
#include "ops/nn/einsum_equation.h"
#include "ops/op_list.h"

namespace assay::op_onnx_Einsum {
namespace {

void infer(InferContext& c) {
  const std::string& text = c.attr_string("equation");
  std::vector<int> ranks;
  for (size_t i = 0; i < c.input_count(); ++i) ranks.push_back(c.input_rank(i));
  const bool known = std::none_of(ranks.begin(), ranks.end(), [](int r) { return r < 0; });
  if (!known && has_ellipsis(text)) return c.set_output(0, c.input_dtype(0));
  const EinsumEquation e = parse_einsum(text, ranks);
  std::map<EinsumLabel, Dim> extents;
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (size_t d = 0; ranks[i] >= 0 && d < e.inputs[i].size(); ++d) {
      const auto [it, is_new] = extents.emplace(e.inputs[i][d], (*c.input_dims(i))[d]);
      if (!is_new) it->second = broadcast_dim(it->second, (*c.input_dims(i))[d]);
    }
  }
  Dims out;
  for (const EinsumLabel label : e.output) out.push_back(extents.count(label) != 0 ? extents[label] : Dim());
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// Extents of all labels; one that is 1 in some input broadcasts.
using Extents = std::map<EinsumLabel, int64_t>;

/// A contiguous tensor whose dimensions have labels, each once.
struct Labelled {
  Tensor tensor;
  EinsumTerm labels;
};

bool contains(const EinsumTerm& term, EinsumLabel label) {
  return std::find(term.begin(), term.end(), label) != term.end();
}

int64_t size_of(const EinsumTerm& labels, const Extents& extents) {
  int64_t n = 1;
  for (const EinsumLabel label : labels)
    require(!__builtin_mul_overflow(n, extents.at(label), &n), ErrorCode::kInvalidArgument,
            "an intermediate result of the equation is too large");
  return n;
}

/// The tensor in the order of `labels` (each of which it has); labels it repeats take the diagonal, those it
/// has beyond them are summed over.
template <typename T>
Labelled arrange(const Tensor& t, const EinsumTerm& own, const EinsumTerm& labels, const Extents& extents) {
  if (own == labels) return {t, labels};
  const std::vector<int64_t> strides = t.shape().strides();
  EinsumTerm order = labels;
  for (const EinsumLabel label : own)
    if (!contains(order, label)) order.push_back(label);
  std::vector<int64_t> sizes, steps;
  for (const EinsumLabel label : order) {
    sizes.push_back(extents.at(label));
    int64_t step = 0;
    for (size_t d = 0; d < own.size(); ++d)
      if (own[d] == label) step += strides[d];
    steps.push_back(step);
  }
  const Shape shape(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(labels.size()));
  Tensor out = Tensor::zeros(dtype_of<T>(), shape);
  const int64_t total = Shape(sizes).numel(), summed = out.numel() == 0 ? 0 : total / out.numel();
  const T* from = t.data<T>();
  T* to = out.mutable_data<T>();
  OffsetCursor cursor(sizes, steps);
  for (int64_t i = 0; i < out.numel(); ++i)
    for (int64_t s = 0; s < summed; ++s, cursor.next()) to[i] = static_cast<T>(to[i] + from[cursor.offset()]);
  return {std::move(out), labels};
}

/// One pairwise product, summed over the labels of both that `kept` lacks.
template <typename T>
Labelled contract(const Labelled& a, const Labelled& b, const EinsumTerm& kept, const Extents& extents) {
  EinsumTerm batch, left, right, summed;
  for (const EinsumLabel label : a.labels) {
    if (!contains(b.labels, label))
      left.push_back(label);
    else
      (contains(kept, label) ? batch : summed).push_back(label);
  }
  for (const EinsumLabel label : b.labels)
    if (!contains(a.labels, label)) right.push_back(label);
  const auto join = [](EinsumTerm x, const EinsumTerm& y, const EinsumTerm& z) {
    x.insert(x.end(), y.begin(), y.end());
    x.insert(x.end(), z.begin(), z.end());
    return x;
  };
  const Labelled x = arrange<T>(a.tensor, a.labels, join(batch, left, summed), extents);
  const Labelled y = arrange<T>(b.tensor, b.labels, join(batch, summed, right), extents);
  Labelled out{.tensor = {}, .labels = join(batch, left, right)};
  std::vector<int64_t> shape;
  for (const EinsumLabel label : out.labels) shape.push_back(extents.at(label));
  out.tensor = Tensor::allocate(dtype_of<T>(), Shape(shape));
  const int64_t m = size_of(left, extents), n = size_of(right, extents), k = size_of(summed, extents);
  const T *px = x.tensor.data<T>(), *py = y.tensor.data<T>();
  T* po = out.tensor.mutable_data<T>();
  parallel_for(size_of(batch, extents), std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, m * n)),
               [&](int64_t first, int64_t last) {
                 for (int64_t i = first; i < last; ++i)
                   kernels::gemm(m, n, k, px + i * m * k, k, py + i * k * n, n, po + i * m * n, n);
               });
  return out;
}

/// Input i without the labels that only it has and the output lacks, and without extents of 1 that broadcast.
template <typename T>
Labelled prepare(const EvalContext& c, const EinsumEquation& e, size_t i, const Extents& extents) {
  EinsumTerm own;
  Shape shape;
  for (size_t d = 0; d < e.inputs[i].size(); ++d) {
    const int64_t extent = c.shape(i)[d];
    if (extent == 1 && extents.at(e.inputs[i][d]) != 1) continue;
    own.push_back(e.inputs[i][d]);
    shape.push_back(extent);
  }
  EinsumTerm kept;
  for (const EinsumLabel label : own) {
    bool needed = contains(e.output, label);
    for (size_t k = 0; k < e.inputs.size(); ++k) needed = needed || (k != i && contains(e.inputs[k], label));
    if (needed && !contains(kept, label)) kept.push_back(label);
  }
  return arrange<T>(c.input(i).reshaped(shape), own, kept, extents);
}

template <typename T>
Tensor evaluate(const EvalContext& c, const EinsumEquation& e, const Extents& extents) {
  Labelled product = prepare<T>(c, e, 0, extents);
  for (size_t i = 1; i < e.inputs.size(); ++i) {
    EinsumTerm kept = e.output;
    for (size_t k = i + 1; k < e.inputs.size(); ++k)
      kept.insert(kept.end(), e.inputs[k].begin(), e.inputs[k].end());
    product = contract<T>(product, prepare<T>(c, e, i, extents), kept, extents);
  }
  EinsumTerm present;
  Shape shape;
  for (const EinsumLabel label : e.output) {
    if (contains(product.labels, label)) present.push_back(label);
    shape.push_back(extents.at(label));
  }
  return arrange<T>(product.tensor, product.labels, present, extents).tensor.reshaped(std::move(shape));
}

std::vector<int> input_ranks(const EvalContext& c) {
  std::vector<int> ranks;
  for (const Tensor& t : c.inputs()) ranks.push_back(t.rank());
  return ranks;
}

Extents label_extents(const EvalContext& c, const EinsumEquation& e) {
  Extents extents;
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    for (size_t d = 0; d < e.inputs[i].size(); ++d) {
      const int64_t extent = c.shape(i)[d];
      int64_t& known = extents.emplace(e.inputs[i][d], extent).first->second;
      c.check(known == extent || known == 1 || extent == 1,
              "the equation '{}' gives one index the extents {} and {}", c.attr_string("equation"), known,
              extent);
      if (known == 1) known = extent;
    }
  }
  return extents;
}

void eval(EvalContext& c) {
  const EinsumEquation e = parse_einsum(c.attr_string("equation"), input_ranks(c));
  const Extents extents = label_extents(c, e);
  visit_numeric(c.input(0).dtype(), [&]<typename T>() { c.set_output(0, evaluate<T>(c, e, extents)); });
}

/// Products per output element, with one more rounding for each input.
int64_t terms(EvalContext& c) {
  const EinsumEquation e = parse_einsum(c.attr_string("equation"), input_ranks(c));
  EinsumTerm summed;
  for (const EinsumTerm& term : e.inputs)
    for (const EinsumLabel label : term)
      if (!contains(e.output, label) && !contains(summed, label)) summed.push_back(label);
  return size_of(summed, label_extents(c, e)) + static_cast<int64_t>(e.inputs.size());
}

constexpr OpVersion kVersions[] = {
    {12, R"(
in  Inputs: T ...
out Output: T
attr equation: string required
type T: @numeric)",
     infer, eval},
    {28, R"(
in  Inputs: T ...
out Output: T
attr equation: string required
type T: @numeric_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Einsum",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms},
    .facts =
        {
            .overflows = kEveryInput,
            .sums = SumsFact::kProducts,
            .multiply_accumulates = einsum_macs,
        },
};

}  // namespace assay::op_onnx_Einsum
