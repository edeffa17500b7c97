// Faults of narrow types, as defects of an engine or of its calibration would make them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "planted_network.h"

namespace assay::planted {

/// A fault of one engine. WRONG at one of the places is its discovery.
struct Fault {
  std::string kind, node;
  std::set<std::string> places;
  std::string touched;  ///< the tensor that it changes: two faults of an engine have different ones
  std::function<bool(Model&)> plant;       ///< of the engine's model; false: it does not apply
  std::function<bool(Scales&)> calibrate;  ///< of its calibration, in place of that
};

/// Of an engine that has other scales, or other weights in 8 bits, than it declares; and of the network in 8
/// bits.
std::vector<Fault> faults_in_8_bits(const Network& net, Model& in_8_bits);

/// Of engines in float16 or bfloat16: a node computes something else.
std::vector<Fault> faults_in_floats(const Network& net, DType dtype);

}  // namespace assay::planted
