// The declared or inferred type of a value: element type, and extents that may be symbolic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/api.h"
#include "assay/dtype.h"
#include "assay/shape.h"

namespace ASSAY_API assay {

/// One extent: a number, a named symbol (`batch`, or an expression over symbols such as `2*height`), or
/// unknown.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : value_(value) {}  // NOLINT: numbers are dims
  static Dim symbol(std::string name) {
    Dim d;
    d.symbol_ = std::move(name);
    return d;
  }

  bool is_known() const { return value_ >= 0; }
  bool is_symbol() const { return value_ < 0 && !symbol_.empty(); }
  /// The extent; -1 unless is_known().
  int64_t value() const { return value_; }
  const std::string& symbol() const { return symbol_; }
  /// Equal number or equal symbol. False for two unknown extents.
  bool same_as(const Dim& o) const {
    return is_known() ? value_ == o.value_ : is_symbol() && symbol_ == o.symbol_;
  }
  /// Structural equality, for round trips.
  bool operator==(const Dim&) const = default;
  /// The number, the symbol, or `?`.
  std::string str() const;

 private:
  int64_t value_ = -1;
  std::string symbol_;
};

using Dims = std::vector<Dim>;

/// The known extents as a Shape, or nothing when one is not known.
std::optional<Shape> known_shape(const Dims& dims);
Dims to_dims(const Shape& shape);
/// As Python prints a shape with names: (1, 'batch', -1).
std::string dims_str(const Dims& dims);

/// ONNX TypeProto.
struct Type {
  enum class Kind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap, kOpaque };

  Kind kind = Kind::kUnknown;
  DType dtype = DType::kUndefined;           ///< tensor: element type; map: key type
  std::optional<Dims> dims = {};             ///< tensor: nothing when even the rank is unknown
  std::shared_ptr<const Type> element = {};  ///< of a sequence or optional; value type of a map
  std::string denotation = {};
  /// The TypeProto that it was read from, if that contains more (an extent's denotation, the name of an
  /// opaque type, fields of newer ONNX versions). Saving writes it again as long as nothing else has changed;
  /// it is not part of the type's value.
  std::shared_ptr<const std::string> source = nullptr;

  static Type tensor(DType dtype) { return {.kind = Kind::kTensor, .dtype = dtype}; }
  static Type tensor(DType dtype, Dims dims) {
    return {.kind = Kind::kTensor, .dtype = dtype, .dims = std::move(dims)};
  }
  static Type tensor(DType dtype, const Shape& shape) { return tensor(dtype, to_dims(shape)); }
  bool is_tensor() const { return kind == Kind::kTensor; }
  bool has_shape() const { return is_tensor() && dims.has_value(); }
  bool operator==(const Type& o) const;
  /// For messages: float32[1, 'batch', ?], seq(float32), unknown.
  std::string str() const;
};

}  // namespace assay
