// Sequences of real numbers that are read block by block, so that intermediate results (a conversion, the
// difference of two tensors) are never materialized.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/tensor.h"

namespace assay {

/// Real numbers in row-major order of some shape. Thread-safe for readers.
class Numbers {
 public:
  /// Elements per block.
  static constexpr int64_t kBlock = 2048;
  static constexpr int64_t kGrain = 32;  ///< blocks: the least that is worth a thread

  /// Scratch memory for one block of any kind, with the tensor that a conversion may need.
  struct Scratch {
    alignas(64) std::array<std::byte, kBlock * sizeof(double)> bytes;
    Tensor converted;
    template <typename T>
    T* as() {
      return reinterpret_cast<T*>(bytes.data());
    }
  };

  virtual ~Numbers() = default;

  /// The type that block() gives: kFloat32, kFloat64, kInt64 or kUInt64.
  DType kind() const { return kind_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return size_; }
  int64_t block_count() const { return (size_ + kBlock - 1) / kBlock; }
  int64_t block_size(int64_t index) const { return std::min(kBlock, size_ - index * kBlock); }

  /// The elements [index * kBlock, ...) of block `index`, block_size(index) of them, of type kind(). Valid
  /// while the sequence and, until its next use, the scratch live.
  virtual const void* block(int64_t index, Scratch& scratch) const = 0;

 protected:
  Numbers(DType kind, Shape shape);

 private:
  DType kind_;
  Shape shape_;
  int64_t size_;
};

/// The kind that holds every value of a real type: float types up to 32 bits are kFloat32; bool and integers
/// up to 32 bits are kFloat64. Throws Error (kInvalidArgument) for strings and complex numbers.
DType number_kind(DType dtype);

/// The elements of a tensor, exactly.
class TensorNumbers : public Numbers {
 public:
  /// Throws Error (kInvalidArgument) for strings and complex numbers.
  explicit TensorNumbers(Tensor tensor);
  const void* block(int64_t index, Scratch& scratch) const override;

 private:
  Tensor tensor_;
};

/// Calls f.template operator()<T>() with the C++ type of a kind.
template <typename F>
decltype(auto) visit_kind(DType kind, F&& f) {
  switch (kind) {
    case DType::kFloat32:
      return f.template operator()<float>();
    case DType::kInt64:
      return f.template operator()<int64_t>();
    case DType::kUInt64:
      return f.template operator()<uint64_t>();
    default:
      return f.template operator()<double>();
  }
}

/// Calls body(pointer, count, first) for each block in [begin, end), with the elements as T and the index of
/// the first. Stops early when body returns false.
template <typename T, typename Body>
void for_each_block(const Numbers& numbers, int64_t begin, int64_t end, Body&& body) {
  Numbers::Scratch scratch;
  for (int64_t b = begin; b < end; ++b) {
    const T* p = static_cast<const T*>(numbers.block(b, scratch));
    if (!body(p, numbers.block_size(b), b * Numbers::kBlock)) return;
  }
}

}  // namespace assay
