// The extents of a tensor in memory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "assay/api.h"

namespace ASSAY_API assay {

/// Known extents, outermost first. A scalar has rank 0. Every extent is >= 0.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  template <typename It>
  Shape(It first, It last) : dims_(first, last) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  bool empty() const { return dims_.empty(); }
  size_t size() const { return dims_.size(); }
  int64_t operator[](size_t i) const { return dims_[i]; }
  int64_t& operator[](size_t i) { return dims_[i]; }
  int64_t back() const { return dims_.back(); }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  auto begin() { return dims_.begin(); }
  auto end() { return dims_.end(); }
  void push_back(int64_t d) { dims_.push_back(d); }
  void insert_at(size_t i, int64_t d) { dims_.insert(dims_.begin() + static_cast<std::ptrdiff_t>(i), d); }
  void erase_at(size_t i) { dims_.erase(dims_.begin() + static_cast<std::ptrdiff_t>(i)); }
  const std::vector<int64_t>& dims() const { return dims_; }
  bool operator==(const Shape&) const = default;

  /// Number of elements; throws Error if an extent is negative or the product overflows int64.
  int64_t numel() const;
  /// Product of the extents in [first, last); same errors.
  int64_t numel(size_t first, size_t last) const;
  /// Row-major strides in elements.
  std::vector<int64_t> strides() const;
  /// As Python prints a tuple: (), (2,), (1, 3, 224, 224).
  std::string str() const;

 private:
  std::vector<int64_t> dims_;
};

/// Turns an axis in [-rank, rank) into [0, rank); throws Error naming `what` otherwise.
int normalize_axis(int64_t axis, int rank, const char* what = "axis");

/// NumPy broadcasting of two shapes; throws Error when they do not match.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace assay
