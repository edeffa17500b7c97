#include "compare/postprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/name_pattern.h"
#include "base/parallel.h"
#include "base/python_repr.h"
#include "tensor/convert.h"
#include "tensor/numbers.h"

namespace assay {
namespace {

/// The elements along one axis: `outer` x `length` x `inner`.
struct AxisView {
  int64_t outer, length, inner;
};

template <typename T>
void top_k_rows(const T* x, const AxisView& view, int64_t k, int64_t* out) {
  const auto greater = [](T a, T b) { return a > b || (b != b && a == a); };
  parallel_for(
      view.outer * view.inner, std::max<int64_t>(1, 4096 / view.length), [&](int64_t first, int64_t last) {
        std::vector<int64_t> order(static_cast<size_t>(view.length));
        for (int64_t row = first; row < last; ++row) {
          const int64_t o = row / view.inner, i = row % view.inner;
          const T* from = x + o * view.length * view.inner + i;
          std::iota(order.begin(), order.end(), 0);
          std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
            const T va = from[a * view.inner], vb = from[b * view.inner];
            return greater(va, vb) || (!greater(vb, va) && a < b);
          });
          for (int64_t r = 0; r < k; ++r) out[(o * k + r) * view.inner + i] = order[static_cast<size_t>(r)];
        }
      });
}

}  // namespace

Tensor top_k_indices(const Tensor& tensor, int64_t k, int64_t axis) {
  require(k >= 0, ErrorCode::kInvalidArgument, "top-k needs a k of at least 0, not {}", k);
  require(tensor.rank() > 0, ErrorCode::kInvalidArgument,
          "top-k needs at least one dimension, but this is a scalar");
  const auto at = static_cast<size_t>(normalize_axis(axis, tensor.rank(), "the axis of top-k"));
  const Tensor numbers = convert(tensor, number_kind(tensor.dtype()));
  const AxisView view{tensor.shape().numel(0, at), tensor.dim(at),
                      tensor.shape().numel(at + 1, tensor.shape().size())};
  Shape shape = tensor.shape();
  shape[at] = std::min(k, view.length);
  Tensor result = Tensor::allocate(DType::kInt64, shape);
  if (result.numel() == 0) return result;
  int64_t* out = result.mutable_data<int64_t>();
  visit_kind(numbers.dtype(), [&]<typename T>() { top_k_rows(numbers.data<T>(), view, shape[at], out); });
  return result;
}

Tensor TopKOutputs::load(size_t index) const {
  const std::string& name = names()[index];
  const TopK* top_k = top_k_.find(name);
  Tensor output = source_->load(index);
  if (top_k == nullptr || top_k->k == 0) return output;
  return with_context(
      [&] { return fmt::format("in the post-processing of output {}", python_str_repr(name)); },
      [&] { return top_k_indices(output, top_k->k, top_k->axis); });
}

std::vector<UnknownPostprocessed> unknown_outputs(const std::vector<std::string>& outputs,
                                                  const PerOutput<TopK>& top_k) {
  std::vector<UnknownPostprocessed> unknown;
  for (const auto& entry : top_k.entries()) {
    const NamePattern pattern(entry.first);
    const auto fits = [&](const std::string& k) { return pattern.matches(k); };
    if (!entry.first.empty() && std::none_of(outputs.begin(), outputs.end(), fits))
      unknown.push_back({entry.first, spec_hint(entry.first, outputs)});
  }
  return unknown;
}

}  // namespace assay
