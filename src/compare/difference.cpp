#include "compare/difference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/parallel.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// Reads a tensor block by block as another type.
template <typename T>
class Reader {
 public:
  explicit Reader(const Tensor& tensor) : tensor_(tensor) {}

  const T* block(int64_t first, int64_t count, Tensor& converted) const {
    const auto* bytes = static_cast<const std::byte*>(tensor_.data()) + storage_bytes(tensor_.dtype(), first);
    if (tensor_.dtype() == dtype_of<T>()) return reinterpret_cast<const T*>(bytes);
    converted = convert(Tensor::view(tensor_.dtype(), Shape{count}, bytes, nullptr), dtype_of<T>());
    return converted.data<T>();
  }

 private:
  Tensor tensor_;
};

/// |a - b| of integers, which every uint64 can hold.
inline uint64_t distance(int64_t a, int64_t b) {
  return a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
               : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
}
inline uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }
template <typename T>
T distance(T a, T b) {
  return std::fabs(a - b);
}

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T>;

/// Kind of the quotient of an absolute difference of kind A.
template <typename A>
using QuotientOf = std::conditional_t<kIsInteger<A>, double, A>;

/// Both tensors read as T, the type of the subtraction; the difference is kept as A.
template <typename T, typename A>
class Operands {
 public:
  Operands(const Tensor& a, const Tensor& b, bool infinities_equal, bool replaces_zero)
      : a_(a), b_(b), infinities_equal_(infinities_equal), replaces_zero_(replaces_zero) {}

  void subtract(int64_t first, int64_t count, Tensor& room, A* out) const {
    Tensor room_b;
    const T* a = a_.block(first, count, room);
    const T* b = b_.block(first, count, room_b);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<A>(distance(a[i], b[i]));
    if constexpr (!kIsInteger<T>)
      if (infinities_equal_)
        for (int64_t i = 0; i < count; ++i)
          if (std::isinf(a[i]) && a[i] == b[i]) out[i] = 0;
  }

  void divide(int64_t first, int64_t count, Tensor& room, QuotientOf<A>* out) const {
    if constexpr (kIsInteger<A>) {
      std::array<A, Numbers::kBlock> absolute;
      subtract(first, count, room, absolute.data());
      const T* b = b_.block(first, count, room);
      for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<double>(absolute[static_cast<size_t>(i)]) / std::fabs(static_cast<double>(b[i]));
    } else {
      subtract(first, count, room, out);
      const T* b = b_.block(first, count, room);
      const T zero = replaces_zero_ ? static_cast<T>(kZeroReplacement) : T{0};
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] /= static_cast<A>(std::fabs(b[i] == 0 ? zero : b[i]));
    }
  }

 private:
  Reader<T> a_, b_;
  bool infinities_equal_, replaces_zero_;
};

template <typename T, typename A>
class AbsoluteNumbers : public Numbers {
 public:
  AbsoluteNumbers(std::shared_ptr<const Operands<T, A>> operands, const Shape& shape)
      : Numbers(dtype_of<A>(), shape), operands_(std::move(operands)) {}
  const void* block(int64_t index, Scratch& scratch) const override {
    operands_->subtract(index * kBlock, block_size(index), scratch.converted, scratch.as<A>());
    return scratch.bytes.data();
  }

 private:
  std::shared_ptr<const Operands<T, A>> operands_;
};

template <typename T, typename A>
class RelativeNumbers : public Numbers {
 public:
  RelativeNumbers(std::shared_ptr<const Operands<T, A>> operands, const Shape& shape)
      : Numbers(dtype_of<QuotientOf<A>>(), shape), operands_(std::move(operands)) {}
  const void* block(int64_t index, Scratch& scratch) const override {
    operands_->divide(index * kBlock, block_size(index), scratch.converted, scratch.as<QuotientOf<A>>());
    return scratch.bytes.data();
  }

 private:
  std::shared_ptr<const Operands<T, A>> operands_;
};

bool is_truth(const Tensor& t) { return t.dtype() == DType::kBool; }

/// The type in which NumPy would subtract, but wide enough for integers.
DType subtraction_type(const Tensor& a, const Tensor& b) {
  const DType kind_a = number_kind(a.dtype()), kind_b = number_kind(b.dtype());
  const auto is_single = [](const Tensor& t, DType kind) { return kind == DType::kFloat32 || is_truth(t); };
  if (is_truth(a) && is_truth(b)) return DType::kInt64;
  if (is_single(a, kind_a) && is_single(b, kind_b)) return DType::kFloat32;
  if (is_float(a.dtype()) || is_float(b.dtype())) return DType::kFloat64;
  const bool huge_a = kind_a == DType::kUInt64, huge_b = kind_b == DType::kUInt64;
  if (huge_a && huge_b) return DType::kUInt64;
  return huge_a || huge_b ? DType::kFloat64 : DType::kInt64;
}

/// Calls found(first, n, is_bad) for blocks with mismatches, from any thread, until it returns false;
/// is_bad(i) tells about element first + i.
template <typename Found>
void scan_mismatches(const Difference& difference, double atol, double rtol, Found&& found) {
  const Numbers &absolute = difference.absolute(), &relative = difference.relative();
  visit_kind(absolute.kind(), [&]<typename A>() {
    visit_kind(relative.kind(), [&]<typename R>() {
      const auto a_limit = static_cast<std::conditional_t<kIsInteger<A>, double, A>>(atol);
      const auto r_limit = static_cast<std::conditional_t<kIsInteger<R>, double, R>>(rtol);
      std::atomic<bool> stop = false;
      parallel_for(absolute.block_count(), Numbers::kGrain, [&](int64_t begin, int64_t end) {
        Numbers::Scratch room_a, room_r;
        for (int64_t b = begin; b < end && !stop; ++b) {
          const A* a = static_cast<const A*>(absolute.block(b, room_a));
          const R* r = static_cast<const R*>(relative.block(b, room_r));
          const auto is_bad = [&](int64_t i) { return !(a[i] <= a_limit) & !(r[i] <= r_limit); };
          const int64_t n = absolute.block_size(b);
          int any = 0;
#pragma omp simd reduction(| : any)
          for (int64_t i = 0; i < n; ++i) any |= is_bad(i) ? 1 : 0;
          if (any && !found(b * Numbers::kBlock, n, is_bad)) stop = true;
        }
      });
    });
  });
}

}  // namespace

Difference::Difference(const Tensor& a, const Tensor& b, bool infinities_equal, std::optional<bool> identical)
    : is_bool_(is_truth(a) && is_truth(b)),
      identical_(identical ? *identical : a.identical(b)),
      divides_zero_(!is_float(b.dtype())) {
  require(a.shape() == b.shape(), ErrorCode::kInvalidArgument, "cannot subtract tensors of shapes {} and {}",
          a.shape().str(), b.shape().str());
  const auto make = [&]<typename T, typename A>() {
    const auto operands = std::make_shared<const Operands<T, A>>(a, b, infinities_equal, !divides_zero_);
    absolute_ = std::make_unique<AbsoluteNumbers<T, A>>(operands, a.shape());
    relative_ = std::make_unique<RelativeNumbers<T, A>>(operands, a.shape());
  };
  switch (subtraction_type(a, b)) {
    case DType::kFloat32:
      if (infinities_equal) {
        make.template operator()<float, double>();
      } else {
        make.template operator()<float, float>();
      }
      break;
    case DType::kInt64:
      make.template operator()<int64_t, uint64_t>();
      break;
    case DType::kUInt64:
      make.template operator()<uint64_t, uint64_t>();
      break;
    default:
      make.template operator()<double, double>();
  }
}

Difference::~Difference() = default;

Statistics Difference::absolute_statistics(const Statistics& of_a, std::optional<double> quantile) const {
  if (identical_ && of_a.all_finite()) return constant_statistics(of_a.count, 0);
  return statistics(*absolute_, quantile);
}

Statistics Difference::relative_statistics(const Statistics& of_a, std::optional<double> quantile) const {
  const bool no_zero_divisor = !divides_zero_ || of_a.zero_count == 0;
  if (identical_ && of_a.all_finite() && no_zero_divisor) return constant_statistics(of_a.count, 0);
  return statistics(*relative_, quantile);
}

Tensor materialize(const Numbers& numbers) {
  Tensor result = Tensor::allocate(numbers.kind(), numbers.shape());
  auto* out = static_cast<std::byte*>(result.mutable_data());
  parallel_for(numbers.block_count(), Numbers::kGrain, [&](int64_t begin, int64_t end) {
    Numbers::Scratch scratch;
    for (int64_t b = begin; b < end; ++b) {
      const void* block = numbers.block(b, scratch);
      std::memcpy(out + storage_bytes(numbers.kind(), b * Numbers::kBlock), block,
                  storage_bytes(numbers.kind(), numbers.block_size(b)));
    }
  });
  return result;
}

std::vector<int64_t> mismatches(const Difference& difference, double atol, double rtol) {
  std::vector<int64_t> positions;
  std::mutex mutex;
  scan_mismatches(difference, atol, rtol, [&](int64_t first, int64_t n, const auto& is_bad) {
    const std::lock_guard lock(mutex);
    for (int64_t i = 0; i < n; ++i)
      if (is_bad(i)) positions.push_back(first + i);
    return true;
  });
  std::sort(positions.begin(), positions.end());
  return positions;
}

bool any_mismatch(const Difference& difference, double atol, double rtol) {
  std::atomic<bool> any = false;
  scan_mismatches(difference, atol, rtol, [&](int64_t, int64_t, const auto&) {
    any = true;
    return false;
  });
  return any;
}

bool exceeds(DType kind, double difference, double tolerance) {
  if (kind == DType::kFloat32) return !(static_cast<float>(difference) <= static_cast<float>(tolerance));
  return !(difference <= tolerance);
}

}  // namespace assay
