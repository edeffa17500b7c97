// What a pointwise program reads and writes, as it lies in memory.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::kernels {

/// Element types that operands and results have in memory. A register holds its own type; narrow floats go
/// into float32 registers, and so may bytes. Stored as bytes, float32 rounds and saturates (convert.h).
enum class PointwiseType : uint8_t {
  kFloat32,
  kBool,
  kInt32,
  kInt64,
  kUint8,
  kInt8,
  kFloat16,
  kBfloat16,
  kFloat64,
  kInt16,
  kUint16,
  kUint32,
  kUint64,
};

/// How an operand covers the domain: strides in elements, one per dimension, 0 where it repeats.
struct PointwiseOperand {
  PointwiseType type = PointwiseType::kFloat32;
  std::vector<int64_t> strides;
};

}  // namespace assay::kernels
