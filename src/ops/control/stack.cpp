#include "ops/control/stack.h"

#include <algorithm>

#include "base/article.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay {

Tensor slice_at(const Tensor& t, size_t axis, int64_t index) {
  Region from{0, t.shape().strides()};
  from.offset = index * from.strides[axis];
  Shape shape = t.shape();
  shape.erase_at(axis);
  from.strides.erase(from.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return copy_region(t, from, shape);
}

void Stack::push(Tensor entry) {
  require(!entry.is_container(), ErrorCode::kInvalidModel, "an iteration gives {}, and only tensors stack up",
          with_article(dtype_name(entry.dtype())));
  if (!entries_.empty()) {
    const Tensor& first = entries_.front();
    require(entry.dtype() == first.dtype() && entry.shape() == first.shape(), ErrorCode::kInvalidModel,
            "an iteration gives {}{}, an earlier one gave {}{}", dtype_name(entry.dtype()),
            entry.shape().str(), dtype_name(first.dtype()), first.shape().str());
  }
  Shape grown = entry.shape();
  grown.insert_at(0, static_cast<int64_t>(entries_.size()) + 1);
  check_output_size(entry.dtype(), grown);
  entries_.push_back(std::move(entry));
}

Tensor Stack::joined(int64_t axis, bool reversed, int64_t length) const {
  Shape shape;
  DType dtype = type_.dtype;
  if (!entries_.empty()) {
    shape = entries_.front().shape();
    dtype = entries_.front().dtype();
  } else {
    require(type_.has_shape() && dtype != DType::kUndefined, ErrorCode::kInvalidModel,
            "no iteration ran, and the shape of its output is not known");
    for (const Dim& d : *type_.dims) shape.push_back(d.is_known() ? d.value() : 0);
  }
  const auto at = static_cast<size_t>(normalize_axis(axis, shape.rank() + 1));
  Shape out = shape;
  out.insert_at(at, std::max(length, static_cast<int64_t>(entries_.size())));
  Tensor y = checked_allocation(unpacked_dtype(dtype), out);
  if (out[at] > static_cast<int64_t>(entries_.size())) fill_elements(y, Tensor::zeros(y.dtype(), {}));
  Region to{0, out.strides()};
  const int64_t step = to.strides[at];
  to.strides.erase(to.strides.begin() + static_cast<std::ptrdiff_t>(at));
  for (size_t i = 0; i < entries_.size(); ++i) {
    to.offset = static_cast<int64_t>(i) * step;
    const Tensor& entry = entries_[reversed ? entries_.size() - 1 - i : i];
    strided_copy(unpacked(entry), {0, shape.strides()}, y, to, shape);
  }
  return repacked(std::move(y), dtype);
}

Type entry_type(const EvalContext& c, const Graph& body, size_t i) {
  if (i >= body.outputs.size()) return {};
  Type type = body.outputs[i]->type;
  if (c.ideal && is_float(type.dtype)) type.dtype = DType::kFloat64;
  return type;
}

const Tensor& single(const Tensor& t, const char* what) {
  require(t.numel() == 1, ErrorCode::kInvalidModel, "{} must have one element, it has shape {}", what,
          t.shape().str());
  return t;
}

}  // namespace assay
