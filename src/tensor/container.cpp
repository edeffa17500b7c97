#include "tensor/container.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/article.h"
#include "base/memory_limit.h"

namespace assay {
namespace {

/// A buffer shared by sequences, each a part of it. Elements are only appended and never changed, so that
/// parts remain valid.
struct Buffer {
  explicit Buffer(size_t capacity)
      : share(static_cast<int64_t>(capacity * sizeof(Tensor)), "a list of values") {
    list.reserve(capacity);
  }
  MemoryShare share;
  std::mutex mutex;          ///< held for appending
  std::vector<Tensor> list;  ///< never reallocated
};

/// The storage of a container: as many elements of the buffer from `first` on as the tensor says.
struct Elements {
  std::shared_ptr<Buffer> buffer;
  const Tensor* first = nullptr;
  int depth = 1;            ///< of containers inside each other, this one included
  uint32_t leaf_types = 0;  ///< see Tensor::leaf_types()

  size_t offset() const { return static_cast<size_t>(first - buffer->list.data()); }
  void count(const Tensor& e, int inner_depth) {
    leaf_types |= e.is_container() ? e.leaf_types()
                  : e.defined()    ? uint32_t{1} << static_cast<int>(e.dtype())
                                   : 0;
    depth = std::max(depth, inner_depth + 1);
    require(depth <= Tensor::kMaxContainerDepth, ErrorCode::kInvalidModel,
            "sequences, optionals and maps nest deeper than {}", Tensor::kMaxContainerDepth);
  }
};
static_assert(kDTypeCount <= 32);

/// Capacity for growth, so that appending one by one takes linear time.
size_t with_room(size_t count) { return std::max<size_t>(8, 2 * count); }

bool is_vector(const Tensor& t) { return !t.is_container() && t.defined() && t.rank() == 1; }

}  // namespace

Tensor Tensor::container(DType kind, std::vector<Tensor> elements) {
  Tensor t;
  auto storage = std::make_shared<Elements>();
  storage->buffer = std::make_shared<Buffer>(0);
  storage->buffer->share =
      MemoryShare(static_cast<int64_t>(elements.size() * sizeof(Tensor)), "a list of values");
  for (const Tensor& e : elements) {
    t.nbytes_ += e.nbytes_;
    storage->count(e, e.is_container() ? static_cast<const Elements*>(e.data_)->depth : 0);
  }
  t.dtype_ = kind;
  t.numel_ = static_cast<int64_t>(elements.size());
  t.shape_ = Shape{t.numel_};
  storage->buffer->list = std::move(elements);
  storage->first = storage->buffer->list.data();
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

Tensor Tensor::with_element(size_t position, Tensor element) const {
  const std::span<const Tensor> all = elements();
  require(dtype_ == DType::kSequence && position <= all.size() && element.defined(), ErrorCode::kInternal,
          "element {} of a sequence of {} cannot be set", position, all.size());
  require(all.empty() || all[0].dtype() == element.dtype(), ErrorCode::kInvalidModel,
          "a sequence cannot hold both {} and {}", dtype_name(all.empty() ? element.dtype() : all[0].dtype()),
          dtype_name(element.dtype()));
  const auto& own = *static_cast<const Elements*>(data_);
  auto storage = std::make_shared<Elements>();
  storage->depth = own.depth;
  storage->leaf_types = all.empty() ? 0 : own.leaf_types;
  storage->count(element, element.is_container() ? static_cast<const Elements*>(element.data_)->depth : 0);
  Tensor t = *this;
  t.nbytes_ += element.nbytes_;
  t.numel_ += 1;
  t.shape_ = Shape{t.numel_};
  const auto append = [&] {
    if (position != all.size()) return false;
    const std::lock_guard lock(own.buffer->mutex);
    std::vector<Tensor>& list = own.buffer->list;
    const size_t end = own.offset() + all.size();
    // Elements beyond the end are unused if no other sequence shares this buffer.
    if (end < list.size() && own.buffer.use_count() == 1) list.resize(end);
    if (end != list.size() || list.size() == list.capacity()) return false;
    list.push_back(std::move(element));
    storage->buffer = own.buffer;
    storage->first = own.first;
    return true;
  };
  if (!append()) {
    storage->buffer = std::make_shared<Buffer>(with_room(all.size() + 1));
    std::vector<Tensor>& list = storage->buffer->list;
    list.insert(list.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(position));
    list.push_back(std::move(element));
    list.insert(list.end(), all.begin() + static_cast<std::ptrdiff_t>(position), all.end());
    storage->first = list.data();
  }
  t.data_ = storage.get();
  t.owner_ = std::move(storage);
  return t;
}

Tensor Tensor::without_element(size_t position) const {
  const std::span<const Tensor> all = elements();
  require(dtype_ == DType::kSequence && position < all.size(), ErrorCode::kInternal,
          "a sequence of {} has no element {}", all.size(), position);
  const auto& own = *static_cast<const Elements*>(data_);
  const size_t left = all.size() - 1;
  const bool at_end = position == 0 || position == left;
  size_t held = 0;
  if (at_end) {
    const std::lock_guard lock(own.buffer->mutex);
    held = own.buffer->list.size();
  }
  // The buffer has at most as many unneeded elements as needed ones.
  if (!at_end || held > 2 * left) {
    std::vector<Tensor> rest(all.begin(), all.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(position));
    return container(DType::kSequence, std::move(rest));
  }
  Tensor t = *this;
  auto storage = std::make_shared<Elements>(own);
  if (position == 0) ++storage->first;
  t.nbytes_ -= all[position].nbytes_;
  t.numel_ -= 1;
  t.shape_ = Shape{t.numel_};
  t.data_ = storage.get();
  t.owner_ = std::move(storage);
  return t;
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
  if (!is_container()) [[unlikely]]
    fail(ErrorCode::kInternal, "{} tensor was read as a container", with_article(dtype_name(dtype_)));
  return {static_cast<const Elements*>(data_)->first, static_cast<size_t>(numel_)};
}

uint32_t Tensor::leaf_types() const {
  if (!is_container()) [[unlikely]]
    fail(ErrorCode::kInternal, "{} tensor was read as a container", with_article(dtype_name(dtype_)));
  return static_cast<const Elements*>(data_)->leaf_types;
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

bool may_hold_floats_but(const Tensor& t, DType dtype) {
  if (!t.is_container()) return t.defined() && is_float(t.dtype()) && t.dtype() != dtype;
  for (int k = 0; k < kDTypeCount; ++k)
    if ((t.leaf_types() >> k & 1) != 0 && is_float(static_cast<DType>(k)) && static_cast<DType>(k) != dtype)
      return true;
  return false;
}

void for_each_leaf(const Tensor& t, const std::function<void(const Tensor&)>& f) {
  if (!t.is_container()) return f(t);
  for (const Tensor& e : t.elements()) for_each_leaf(e, f);
}

}  // namespace assay
