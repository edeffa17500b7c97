// DynamicQuantizeLSTM: exact products of levels with 8-bit weights, the cells in float32.
#include <cmath>
#include <limits>

#include "analysis/match.h"
#include "engine/tactics/recurrent/quantized_lstm_kernel.h"
#include "engine/tactics/recurrent/recurrent_functions.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_quantized_lstm {
namespace {

constexpr std::string_view kOperators[] = {"com.microsoft.DynamicQuantizeLSTM"};

/// The node's inputs.
enum Given : size_t { kW = 1, kR, kB, kLengths, kH, kC, kP, kScaleOfW, kZeroOfW, kScaleOfR, kZeroOfR };

/// An element of a constant of 8-bit integers.
int level(const Tensor& t, int64_t i) {
  return t.dtype() == DType::kInt8 ? static_cast<int>(t.data<int8_t>()[i])
                                   : static_cast<int>(t.data<uint8_t>()[i]);
}

/// Index among scales or zero points: one for each direction, or for each of its columns.
int64_t scale_at(const Shape& scales, int64_t direction, int64_t column) {
  return scales.size() == 2 ? direction * scales[1] + column : direction;
}

/// A direction's weights less their zero points, [k, gates].
std::vector<int16_t> numbers_of(const Tensor& levels, const Tensor& zeros, int64_t direction) {
  const int64_t k = levels.dim(1), gates = levels.dim(2);
  std::vector<int16_t> numbers(static_cast<size_t>(k * gates));
  for (int64_t i = 0; i < k * gates; ++i)
    numbers[static_cast<size_t>(i)] =
        static_cast<int16_t>(level(levels, direction * k * gates + i) -
                             level(zeros, scale_at(zeros.shape(), direction, i % gates)));
  return numbers;
}

/// Why operands that are not known before the run leave the node to others; empty: they do not.
std::string refuse_unknown_operands(const Problem& p) {
  for (const size_t i : {size_t{0}, size_t{kH}, size_t{kC}})
    if (p.has_input(i) && p.input_shape(i) == nullptr) return "a shape is not known before the run";
  if (p.has_input(kLengths)) return "its sequences end at different steps";
  for (const size_t i : {kW, kR, kB, kP, kScaleOfW, kZeroOfW, kScaleOfR, kZeroOfR})
    if (p.has_input(i) && p.input_constant(i) == nullptr) return "a weight is not constant";
  return {};
}

void read_attributes(const Problem& p, Sizes& s) {
  const Node& n = p.node();
  const Attribute* direction = n.find_attribute("direction");
  s.backward = direction != nullptr && *direction->get_if<std::string>() == "reverse";
  s.coupled = int_attribute(n, "input_forget", 0) != 0;
  s.clip = static_cast<float>(p.attributes().attr_float("clip", std::numeric_limits<double>::infinity()));
  s.has_bias = p.has_input(kB);
  s.has_peepholes = p.has_input(kP);
}

/// Weights, biases and states have the shapes that the sizes ask for.
bool do_inputs_fit(const Problem& p, const Sizes& s) {
  const Shape state{s.directions, s.batch, s.hidden};
  const std::pair<size_t, Shape> wanted[] = {{kW, {s.directions, s.inputs, s.gates()}},
                                             {kR, {s.directions, s.hidden, s.gates()}},
                                             {kB, {s.directions, 2 * s.gates()}},
                                             {kH, state},
                                             {kC, state},
                                             {kP, {s.directions, 3 * s.hidden}}};
  for (const auto& [i, shape] : wanted)
    if (p.has_input(i) && *p.input_shape(i) != shape) return false;
  return true;
}

/// Scales are those of directions or of their columns, and zero points lie like them.
bool do_scales_fit(const Problem& p, const Sizes& s) {
  const Shape whole{s.directions}, column{s.directions, s.gates()};
  for (const size_t i : {kScaleOfW, kScaleOfR}) {
    const Shape &scales = *p.input_shape(i), &zeros = *p.input_shape(i + 1);
    if ((scales != whole && scales != column) || zeros != scales) return false;
  }
  return true;
}

/// The sizes, or why the node is not served.
std::string read_node(const Problem& p, Sizes& s) {
  if (std::string reason = refuse_unknown_operands(p); !reason.empty()) return reason;
  const Shape &x = *p.input_shape(0), &w = *p.input_shape(kW), &r = *p.input_shape(kR);
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return "the ranks are wrong";
  if (x.numel() == 0 || w.numel() == 0 || r.numel() == 0) return "there is nothing to do";
  s.steps = x[0], s.batch = x[1], s.inputs = x[2];
  s.hidden = r[1], s.directions = r[0];
  read_attributes(p, s);
  if (!kernels::takes_quantized(s.matrix(0))) return "this processor's vectors are too short";
  if (std::max(s.inputs, s.hidden) > kernels::kMaxInt8Sum) return "its sums may exceed 32 bits";
  if (!do_inputs_fit(p, s)) return "the inputs do not fit each other";
  if (!do_scales_fit(p, s)) return "the scales do not fit the weights";
  if (s.directions > 2 || !(s.clip >= 0)) return "the plain evaluation says what is wrong";
  return {};
}

Tensor packed_quantized(const Sizes& s, size_t which, int64_t direction, const UnalignedTensor& levels,
                        const UnalignedTensor& zeros) {
  Tensor packed = Tensor::allocate(DType::kUInt8, {s.weights(which).bytes()});
  kernels::pack_quantized_gates(s.matrix(which),
                                numbers_of(levels.aligned(), zeros.aligned(), direction).data(),
                                packed.mutable_data());
  return packed;
}

/// Scales, biases or peepholes of a direction in the order of a row of sums.
Tensor packed_numbers(const Sizes& s, size_t constant, int64_t direction, const UnalignedTensor& given) {
  const Tensor whole = given.aligned();
  const auto* from = whole.data<float>();
  Tensor packed = Tensor::allocate(DType::kFloat32, {s.elements(constant)});
  auto* const to = packed.mutable_data<float>();
  if (constant == kPeepholes) {
    kernels::pack_peepholes(s.layer(), from + direction * 3 * s.hidden, to);
  } else if (constant == kBias) {
    kernels::pack_recurrent_bias(s.layer(), from + direction * 2 * s.gates(), to, nullptr);
  } else {
    std::vector<float> columns(static_cast<size_t>(s.gates()));
    for (int64_t i = 0; i < s.gates(); ++i)
      columns[static_cast<size_t>(i)] = from[scale_at(whole.shape(), direction, i)];
    kernels::pack_gate_row(s.matrix(0), columns.data(), nullptr, 0, to);
  }
  return packed;
}

void add_constants(const Problem& p, const Sizes& s, Candidate& b) {
  constexpr size_t kFrom[] = {kW, kR, kScaleOfW, kScaleOfR, kB, kP};
  constexpr std::string_view kNames[] = {"weights", "recurrent weights", "scales", "recurrent scales",
                                         "bias",    "peepholes"};
  for (int64_t d = 0; d < s.directions; ++d)
    for (size_t i = 0; i < kConstants; ++i) {
      if (s.elements(i) == 0) {
        b.skip_input();
        continue;
      }
      const UnalignedTensor& given = *p.input_constant(kFrom[i]);
      const std::string packing = fmt::format("DynamicQuantizeLSTM {} of direction {} in blocks of {}",
                                              kNames[i], d, kernels::gate_lanes());
      const std::string& name = p.node().input(kFrom[i])->name();
      if (i > kRecurrent) {
        b.add_constant(name, given, packing, [s, i, d, given] { return packed_numbers(s, i, d, given); });
        continue;
      }
      const size_t zero = i == kWeights ? kZeroOfW : kZeroOfR;
      const Tensor zeros = p.input_constant(zero)->aligned();
      std::string less = ", less";
      for (int64_t z = 0; z < zeros.numel(); ++z) less += fmt::format(" {}", level(zeros, z));
      b.add_constant(name, given, packing + less, [s, i, d, given, z = *p.input_constant(zero)] {
        return packed_quantized(s, i, d, given, z);
      });
    }
}

std::string propose(const Problem& p, Proposals& proposals) {
  Sizes s;
  if (std::string reason = read_node(p, s); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.arithmetic = DType::kInt8;
  const Node& n = p.node();
  for (const size_t i : {size_t{0}, size_t{kH}, size_t{kC}})
    n.input(i) != nullptr ? b.add_input(n.input(i)) : b.skip_input();
  add_constants(p, s, b);
  for (size_t i = 0; i < 3; ++i) n.output(i) != nullptr ? b.add_output(n.output(i)) : b.skip_output();
  s.lanes = kernels::gate_lanes();
  b.write(s);
  b.write(recurrent_functions(p, RecurrentKind::kLstm, s.directions));
  b.step.scratch_bytes = s.scratch_bytes();
  const auto rows = static_cast<double>(s.steps * s.batch);
  const auto bytes = static_cast<double>(s.directions * (s.weights(0).bytes() + s.weights(1).bytes()));
  b.estimate = estimate_seconds(2 * rows * bytes, bytes, 0.5);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "quantized_lstm",
    .summary = "DynamicQuantizeLSTM: levels times 8-bit weights in exact sums, the cells in float32",
    .version = 4,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_quantized_lstm
