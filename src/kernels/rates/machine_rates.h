// The highest rates of computing and reading of this machine, which kernels are compared with.
#pragma once

#include <cstdint>

namespace assay::kernels {

/// Multiply-adds of float32 in a second, by the chosen instruction set on all threads of this thread's pool:
/// the best of repeated measurements that take about `seconds` together. Operands stay in registers.
double measure_multiply_adds(double seconds);

/// Multiply-adds in a second of the kernels for 8-bit integers, and for pairs of bfloat16 (0 where
/// multiplies_bfloat16() is false), with operands that stay in the first-level cache; measured alike.
double measure_int8_multiply_adds(double seconds);
double measure_bfloat16_multiply_adds(double seconds);

/// Bytes in a second that the threads of this thread's pool read together from an area of `bytes` that they
/// read again and again, each its part: the best of repeated measurements that take about `seconds` together.
/// A large area comes from memory, a small one from the caches.
double measure_reading(int64_t bytes, double seconds);

}  // namespace assay::kernels
