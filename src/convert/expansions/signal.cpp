// Windows of cosines.
#include <numbers>

#include "convert/expansions/parts.h"
#include "convert/steps.h"

namespace assay {
namespace {

/// first - second * cos(t) + third * cos(2 t), where t covers 2 pi per period; 1 if the period is 0.
void expand_window(Rewrite& r, double first, double second, double third) {
  const auto to = static_cast<DType>(r.get_int("output_datatype", static_cast<int64_t>(DType::kFloat32)));
  // Integers truncate the fraction, so 1 must not be slightly less.
  const DType t = is_float(to) && to != DType::kFloat64 ? DType::kFloat32 : DType::kFloat64;
  Value* size = cast(r, r.input(0), DType::kInt64);
  if (rank_of(size) != 0) size = r.add("Reshape", {size, r.ints({}, "scalar")});
  Value* period = r.get_int("periodic", 1) != 0 ? size : r.add("Sub", {size, whole(r, 1, "one")});
  Value* is_point = cast(r, r.add("Not", {cast(r, period, DType::kBool)}), t);
  Value* length = r.add("Add", {cast(r, period, t), is_point});
  const auto times = [&](Value* v, double factor) { return r.add("Mul", {v, r.number(factor, t)}); };
  Value* angle = r.add("Div", {times(cast(r, count_up(r, size), t), 2 * std::numbers::pi), length});
  Value* wave = times(r.add("Cos", {angle}), second);
  Value* window = r.add("Sub", {r.number(first, t, "first"), wave});
  if (third != 0) window = r.add("Add", {window, times(r.add("Cos", {times(angle, 2)}), third)});
  window = r.add("Add", {window, times(is_point, 1 - (first - second + third))});
  r.replace({cast(r, window, to)});
}

void expand_hann(Rewrite& r) { expand_window(r, 0.5, 0.5, 0); }
void expand_hamming(Rewrite& r) { expand_window(r, 25.0 / 46, 21.0 / 46, 0); }
void expand_blackman(Rewrite& r) { expand_window(r, 0.42, 0.5, 0.08); }

}  // namespace

constinit const Expansion expansion_onnx_BlackmanWindow = {"", "BlackmanWindow", 13, "Range and Cos",
                                                           expand_blackman};
constinit const Expansion expansion_onnx_HammingWindow = {"", "HammingWindow", 13, "Range and Cos",
                                                          expand_hamming};
constinit const Expansion expansion_onnx_HannWindow = {"", "HannWindow", 13, "Range and Cos", expand_hann};

}  // namespace assay
