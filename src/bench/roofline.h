// Compares each layer with the machine's peak rates.
#pragma once

#include <cstdint>
#include <functional>

#include "assay/inspect.h"
#include "bench/report.h"
#include "bench/result.h"

namespace assay::bench {

/// Peak rates of the machine.
struct MachineLimits {
  double multiply_adds = 0;  ///< of float32, in a second
  /// Of 8-bit integers and of bfloat16, measured when a layer computes in them. 0: not known.
  std::function<double()> int8_multiply_adds = [] { return 0.0; };
  std::function<double()> bfloat16_multiply_adds = [] { return 0.0; };
  std::function<double(int64_t bytes)> reading;  ///< bytes in a second, from an area of that size
};

/// Measured on the threads of this thread's pool; rates
/// of reading on demand, once for each power of two.
MachineLimits measure_limits();

/// The layers of an engine with the times of a profile. A layer's floor is the longest of: its multiply-adds
/// at the machine's rate for the type that it computes in; its weights at the rate for an area of the size of
/// all weights, because all others are read between two uses; its other operands and results at the rate for
/// an area of their size, as if they were in the nearest cache that holds them. An algorithm that needs fewer
/// operations than the definition (Winograd's convolution) can be below its floor. `stats`: of the model at
/// these shapes; null: operations are not known.
Roofline make_roofline(const EngineDescription& engine, const LayerTimes& times, const ModelStats* stats,
                       const MachineLimits& limits);

/// The rates, a line for each layer, and the sums.
Lines roofline_lines(const Roofline& roofline);

}  // namespace assay::bench
