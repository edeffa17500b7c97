#include "tensor/container.h"

#include <algorithm>

#include "base/memory_limit.h"

namespace assay {
namespace {

/// The storage of a container.
struct Elements {
  MemoryShare share;
  std::vector<Tensor> list;
  int depth = 1;  ///< of containers inside each other, this one included
};

bool is_vector(const Tensor& t) { return !t.is_container() && t.defined() && t.rank() == 1; }

}  // namespace

Tensor Tensor::container(DType kind, std::vector<Tensor> elements) {
  Tensor t;
  auto storage = std::make_shared<Elements>();
  storage->share = MemoryShare(static_cast<int64_t>(elements.size() * sizeof(Tensor)), "a list of values");
  for (const Tensor& e : elements) {
    t.nbytes_ += e.nbytes_;
    if (e.is_container())
      storage->depth = std::max(storage->depth, static_cast<const Elements*>(e.data_)->depth + 1);
  }
  require(storage->depth <= kMaxContainerDepth, ErrorCode::kInvalidModel,
          "sequences, optionals and maps nest deeper than {}", kMaxContainerDepth);
  t.dtype_ = kind;
  t.numel_ = static_cast<int64_t>(elements.size());
  t.shape_ = Shape{t.numel_};
  storage->list = std::move(elements);
  t.data_ = storage.get();
  t.owner_ = std::move(storage);
  return t;
}

Tensor Tensor::sequence(std::vector<Tensor> elements) {
  for (const Tensor& e : elements) {
    require(e.defined(), ErrorCode::kInternal, "an element of a sequence is undefined");
    require(e.dtype() == elements[0].dtype(), ErrorCode::kInvalidModel,
            "a sequence cannot hold both {} and {}", dtype_name(elements[0].dtype()), dtype_name(e.dtype()));
  }
  return container(DType::kSequence, std::move(elements));
}

Tensor Tensor::optional(Tensor element) {
  std::vector<Tensor> elements;
  if (element.defined()) elements.push_back(std::move(element));
  return container(DType::kOptional, std::move(elements));
}

Tensor Tensor::map(Tensor keys, Tensor values) {
  require(is_vector(keys) && (is_integer(keys.dtype()) || keys.dtype() == DType::kString),
          ErrorCode::kInvalidModel, "the keys of a map must be a list of integers or strings, not {}{}",
          dtype_name(keys.dtype()), keys.shape().str());
  require(is_vector(values) || values.dtype() == DType::kSequence, ErrorCode::kInvalidModel,
          "the values of a map must be a list or a sequence, not {}{}", dtype_name(values.dtype()),
          values.shape().str());
  require(keys.numel() == values.numel(), ErrorCode::kInvalidModel, "a map has {} keys for {} values",
          keys.numel(), values.numel());
  return container(DType::kMap, {std::move(keys), std::move(values)});
}

std::span<const Tensor> Tensor::elements() const {
  require(is_container(), ErrorCode::kInternal, "a {} tensor was read as a container", dtype_name(dtype_));
  return static_cast<const Elements*>(data_)->list;
}

Tensor map_leaves(const Tensor& t, const std::function<Tensor(const Tensor&)>& f) {
  if (!t.is_container()) return f(t);
  std::vector<Tensor> mapped;
  bool same = true;
  for (const Tensor& e : t.elements()) {
    mapped.push_back(map_leaves(e, f));
    same = same && mapped.back().dtype() == e.dtype() && mapped.back().shape() == e.shape() &&
           mapped.back().shares_storage(e);
  }
  if (same) return t;
  switch (t.dtype()) {
    case DType::kOptional:
      return Tensor::optional(std::move(mapped[0]));
    case DType::kMap:
      return Tensor::map(std::move(mapped[0]), std::move(mapped[1]));
    default:
      return Tensor::sequence(std::move(mapped));
  }
}

void for_each_leaf(const Tensor& t, const std::function<void(const Tensor&)>& f) {
  if (!t.is_container()) return f(t);
  for (const Tensor& e : t.elements()) for_each_leaf(e, f);
}

}  // namespace assay
