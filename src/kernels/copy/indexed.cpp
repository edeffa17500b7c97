#include "kernels/copy/indexed.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/parallel.h"

namespace assay::kernels {
namespace {

/// Elements that a thread should move at least.
constexpr int64_t kIndexedGrain = 8192;

struct Bytes16 {
  uint64_t low, high;
};

/// Calls fn with an element of the width.
template <typename Fn>
bool visit_width(size_t bytes, Fn fn) {
  switch (bytes) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    default:
      return fn(Bytes16{});
  }
}

/// Calls fn with an element of the type and with how two of them become one.
template <typename Fn>
bool visit_reduction(ScatterReduction reduction, Fn fn) {
  switch (reduction) {
    case ScatterReduction::kAdd:
      return fn([](auto a, auto b) { return a + b; });
    case ScatterReduction::kMul:
      return fn([](auto a, auto b) { return a * b; });
    case ScatterReduction::kMin:
      return fn([](auto a, auto b) { return a < b || a != a ? a : b; });
    default:
      return fn([](auto a, auto b) { return a > b || a != a ? a : b; });
  }
}

/// Integers wrap: they are combined without a sign where that is the same.
template <typename T, typename Combine>
T combined(ScatterReduction reduction, T a, T b, Combine combine) {
  if constexpr (std::is_integral_v<T>)
    if (reduction == ScatterReduction::kAdd || reduction == ScatterReduction::kMul)
      return static_cast<T>(
          combine(static_cast<std::make_unsigned_t<T>>(a), static_cast<std::make_unsigned_t<T>>(b)));
  return combine(a, b);
}

/// Calls fn(element type, how an update joins what is there): plain moves by width, others by type.
template <typename Fn>
bool visit_update(size_t bytes, DType type, ScatterReduction reduction, Fn fn) {
  if (reduction == ScatterReduction::kNone)
    return visit_width(bytes, [&](auto e) { return fn(e, [](decltype(e), decltype(e) b) { return b; }); });
  return visit_reduction(reduction, [&](auto combine) {
    const auto with = [&](auto e) {
      using T = decltype(e);
      return fn(e, [&](T a, T b) { return combined<T>(reduction, a, b, combine); });
    };
    switch (type) {
      case DType::kFloat32:
        return with(float{});
      case DType::kFloat64:
        return with(double{});
      case DType::kInt32:
        return with(int32_t{});
      default:
        return with(int64_t{});
    }
  });
}

/// Calls fn(place in the data, position in the index) for positions whose coordinate on axis `split` is in
/// [first, last), in order. False when an index is out of range.
template <typename Index, typename Fn>
bool walk_elements(const ElementWalk& w, const Index* index, size_t split, int64_t first, int64_t last,
                   Fn fn) {
  const size_t rank = w.index.size(), inner = rank - 1;
  const std::vector<int64_t> data_strides = w.data.strides(), index_strides = w.index.strides();
  std::vector<int64_t> extents = w.index.dims();
  extents[split] = last - first;
  const int64_t start = split == inner ? first : 0, end = split == inner ? last : w.index[inner];
  int64_t rows = 1;
  for (size_t d = 0; d < inner; ++d) rows *= extents[d];
  const int64_t limit = w.data[w.axis], stride = data_strides[w.axis];
  const int64_t column_stride = w.axis == inner ? 0 : 1;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t base = 0, position = 0, rest = row;
    for (size_t d = inner; d-- > 0; rest /= extents[d]) {
      const int64_t at = rest % extents[d] + (d == split ? first : 0);
      position += at * index_strides[d];
      if (d != w.axis) base += at * data_strides[d];
    }
    for (int64_t column = start; column < end; ++column) {
      int64_t i = static_cast<int64_t>(index[position + column]);
      if (i < 0) i += limit;
      if (i < 0 || i >= limit) return false;
      fn(base + i * stride + column * column_stride, position + column);
    }
  }
  return true;
}

/// The axis along which threads share the work: the longest one, and none along which places may meet.
size_t split_axis(const ElementWalk& w, bool may_meet) {
  size_t best = w.index.size();
  for (size_t d = 0; d < w.index.size(); ++d)
    if ((!may_meet || d != w.axis) && (best == w.index.size() || w.index[d] > w.index[best])) best = d;
  return best;
}

template <typename Index, typename Fn>
bool walk_in_parallel(const ElementWalk& w, const Index* index, bool may_meet, Fn fn) {
  const int64_t count = w.index.numel();
  if (count == 0) return true;
  const size_t split = split_axis(w, may_meet);
  if (split == w.index.size()) return walk_elements(w, index, 0, 0, w.index[0], fn);
  const int64_t each = count / w.index[split];
  std::atomic<bool> in_range = true;
  parallel_for(w.index[split], std::max<int64_t>(1, kIndexedGrain / each), [&](int64_t first, int64_t last) {
    if (!walk_elements(w, index, split, first, last, fn)) in_range.store(false, std::memory_order_relaxed);
  });
  return in_range.load();
}

/// The first element of a tuple's slice within its batch; -1 when an index is out of range.
int64_t place_of(const SliceWalk& w, const int64_t* tuple) {
  int64_t place = 0;
  for (size_t d = 0; d < w.extents.size(); ++d) {
    const int64_t extent = w.extents[d], i = tuple[d] < 0 ? tuple[d] + extent : tuple[d];
    if (i < 0 || i >= extent) return -1;
    place = place * extent + i;
  }
  return place * w.slice;
}

}  // namespace

template <typename Index>
bool gather_elements(const ElementWalk& walk, const void* in, const Index* index, void* out,
                     size_t element_bytes) noexcept {
  return visit_width(element_bytes, [&](auto e) {
    using T = decltype(e);
    const auto* from = static_cast<const T*>(in);
    auto* to = static_cast<T*>(out);
    return walk_in_parallel(walk, index, false,
                            [=](int64_t place, int64_t position) { to[position] = from[place]; });
  });
}

template <typename Index>
bool scatter_elements(const ElementWalk& walk, void* data, const Index* index, const void* updates,
                      size_t element_bytes, DType type, ScatterReduction reduction) noexcept {
  return visit_update(element_bytes, type, reduction, [&](auto e, auto join) {
    using T = decltype(e);
    auto* to = static_cast<T*>(data);
    const auto* from = static_cast<const T*>(updates);
    return walk_in_parallel(walk, index, true, [=](int64_t place, int64_t position) {
      to[place] = join(to[place], from[position]);
    });
  });
}

template bool gather_elements(const ElementWalk&, const void*, const int64_t*, void*, size_t) noexcept;
template bool gather_elements(const ElementWalk&, const void*, const int32_t*, void*, size_t) noexcept;
template bool scatter_elements(const ElementWalk&, void*, const int64_t*, const void*, size_t, DType,
                               ScatterReduction) noexcept;
template bool scatter_elements(const ElementWalk&, void*, const int32_t*, const void*, size_t, DType,
                               ScatterReduction) noexcept;

bool gather_slices(const SliceWalk& walk, const void* in, const int64_t* index, void* out,
                   size_t element_bytes) noexcept {
  const auto width = static_cast<int64_t>(walk.extents.size());
  const int64_t batch = walk.extents.numel() * walk.slice;
  std::atomic<bool> in_range = true;
  return visit_width(element_bytes, [&](auto e) {
    using T = decltype(e);
    const auto* from = static_cast<const T*>(in);
    auto* to = static_cast<T*>(out);
    const int64_t grain = std::max<int64_t>(1, kIndexedGrain / std::max<int64_t>(walk.slice, width));
    parallel_for(walk.batches * walk.tuples, grain, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        const int64_t place = place_of(walk, index + t * width);
        if (place < 0) return in_range.store(false, std::memory_order_relaxed);
        const T* slice = from + t / walk.tuples * batch + place;
        if (walk.slice == 1)
          to[t] = *slice;
        else
          std::memcpy(to + t * walk.slice, slice, static_cast<size_t>(walk.slice) * sizeof(T));
      }
    });
    return in_range.load();
  });
}

bool scatter_slices(const SliceWalk& walk, void* data, const int64_t* index, const void* updates,
                    size_t element_bytes, DType type, ScatterReduction reduction) noexcept {
  const auto width = static_cast<int64_t>(walk.extents.size());
  const int64_t batch = walk.extents.numel() * walk.slice;
  return visit_update(element_bytes, type, reduction, [&](auto e, auto join) {
    using T = decltype(e);
    for (int64_t t = 0; t < walk.batches * walk.tuples; ++t) {
      const int64_t place = place_of(walk, index + t * width);
      if (place < 0) return false;
      T* to = static_cast<T*>(data) + t / walk.tuples * batch + place;
      const T* from = static_cast<const T*>(updates) + t * walk.slice;
      for (int64_t i = 0; i < walk.slice; ++i) to[i] = join(to[i], from[i]);
    }
    return true;
  });
}

}  // namespace assay::kernels
