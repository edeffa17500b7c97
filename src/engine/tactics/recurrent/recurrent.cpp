// RNN, GRU and LSTM: one matrix product for the inputs of all steps, then the recurrence in vector kernels.
#include "kernels/rnn/recurrence.h"

#include <algorithm>
#include <optional>

#include "analysis/match.h"
#include "engine/runtime/arena.h"
#include "engine/runtime/complaint.h"
#include "engine/tactics/recurrent/recurrent_functions.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "ops/node_facts.h"

namespace assay::engine::tactic_recurrent {
namespace {

using kernels::RecurrentDirection;
using kernels::RecurrentKind;
using kernels::RecurrentLayer;

bool serves(const OpFacts& facts) { return facts.recurrent.has_value(); }

/// Inputs of the step: the sequence, lengths and initial states; then the constants of each direction, or the
/// node's own weights, biases and peepholes.
enum Input : size_t { kSequence, kLengths, kInitialHidden, kInitialCell, kFirst };
enum Constant : size_t { kWeights, kRecurrent, kBias, kHiddenBias, kPeepholes, kConstants };
constexpr size_t kGivenWeights = 4;  ///< W, R, B, P

/// For the choice without measurements: weights of so many bytes stay in the caches of a common CPU from step
/// to step, and threads that share a step out take so long to meet.
constexpr double kCachedBytes = 24e6, kSecondsToMeet = 2e-6;

/// What a step's parameters say.
struct Settings {
  RecurrentKind kind = RecurrentKind::kRnn;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  bool by_batch = false, backward = false, linear_before_reset = false, coupled = false;
  bool has_bias = false, has_peepholes = false;
  bool packs = false;    ///< the weights are packed in the run
  bool in_turn = false;  ///< one direction after the other
  float clip = 0;
  int64_t lanes = 0;  ///< of the vectors that the weights are packed for

  void fields(FieldVisitor& visit) {
    visit("kind", kind, RecurrentKind::kLstm);
    visit("sizes", {&steps, &batch, &inputs, &hidden, &directions}, {1, kMaxOfWindow});
    visit("lanes", lanes, {1, 64});
    visit("flags", {&by_batch, &backward, &linear_before_reset, &coupled, &has_bias, &has_peepholes, &packs,
                    &in_turn});
    visit("clip", clip);
  }

  RecurrentLayer layer() const {
    return {.kind = kind,
            .steps = steps,
            .batch = batch,
            .hidden = hidden,
            .step_rows = by_batch ? 1 : batch,
            .batch_rows = by_batch ? steps : 1,
            .output_step = directions * hidden * (by_batch ? 1 : batch),
            .output_batch = hidden * (by_batch ? steps * directions : 1),
            .state_batch = hidden * (by_batch ? directions : 1),
            .clip = clip,
            .linear_before_reset = linear_before_reset,
            .coupled = coupled};
  }
  kernels::GateMatrix weights() const { return layer().matrix(inputs); }
  /// From one direction's outputs and states to the next's.
  int64_t direction_stride() const { return hidden * (by_batch ? 1 : batch); }
  size_t states() const { return kind == RecurrentKind::kLstm ? 2 : 1; }
  bool has_hidden_bias() const { return has_bias && kind == RecurrentKind::kGru && linear_before_reset; }
  /// Numbers of each constant of a direction; 0: it has none.
  int64_t numbers(size_t constant) const {
    switch (constant) {
      case kWeights:
        return weights().numbers();
      case kRecurrent:
        return layer().recurrent_numbers();
      case kBias:
        return has_bias ? weights().row_numbers() : 0;
      case kHiddenBias:
        return has_hidden_bias() ? weights().padded() : 0;
      default:
        return has_peepholes ? 3 * weights().padded() : 0;
    }
  }
  int64_t packed_bytes() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < kConstants; ++i) bytes += aligned(numbers(i));
    return bytes;
  }
  int64_t product_bytes() const { return aligned(steps * batch * weights().row_numbers()); }
  int64_t scratch_bytes() const {
    return (in_turn ? 1 : directions) *
           (product_bytes() + layer().scratch_bytes() + (packs ? packed_bytes() : 0));
  }

 private:
  static int64_t aligned(int64_t numbers) {
    return static_cast<int64_t>(align_up(static_cast<size_t>(numbers) * sizeof(float)));
  }
};

/// Packs what ONNX has for a direction: W, R, B or P from its beginning.
void pack_constant(const Settings& s, size_t constant, const float* from, float* to) {
  switch (constant) {
    case kWeights:
      return kernels::pack_gates(s.weights(), from, to);
    case kRecurrent:
      return kernels::pack_recurrent(s.layer(), from, to);
    case kPeepholes:
      return kernels::pack_peepholes(s.layer(), from, to);
    default:
      break;
  }
}

/// Which of W, R, B, P a constant comes from, and how much of it a direction has.
size_t origin_of(size_t constant) { return constant < kHiddenBias ? constant : constant - 1; }
int64_t given_numbers(const Settings& s, size_t given) {
  const int64_t rows = s.layer().gates() * s.hidden;
  const int64_t numbers[] = {rows * s.inputs, rows * s.hidden, 2 * rows, 3 * s.hidden};
  return numbers[given];
}

Tensor packed_constant(const Settings& s, size_t constant, int64_t direction, const UnalignedTensor& given) {
  const Tensor whole = given.aligned();
  const float* from = whole.data<float>() + direction * given_numbers(s, origin_of(constant));
  Tensor packed = Tensor::allocate(DType::kFloat32, {s.numbers(constant)});
  auto* to = packed.mutable_data<float>();
  if (constant != kBias && constant != kHiddenBias) {
    pack_constant(s, constant, from, to);
    return packed;
  }
  std::vector<float> other(static_cast<size_t>(s.weights().row_numbers()));
  constant == kBias ? kernels::pack_recurrent_bias(s.layer(), from, to, other.data())
                    : kernels::pack_recurrent_bias(s.layer(), from, other.data(), to);
  return packed;
}

/// The settings, or why the node is not served.
std::string read_node(const Problem& p, Settings& s) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  for (size_t i = 0; i < p.input_count(); ++i)
    if (p.has_input(i) && p.input_shape(i) == nullptr) return "a shape is not known before the run";
  const Node& n = p.node();
  const int64_t since = p.attributes().since();
  const Shape &x = *p.input_shape(0), &w = *p.input_shape(1), &r = *p.input_shape(2);
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return "the ranks are wrong";
  if (x.numel() == 0 || w.numel() == 0 || r.numel() == 0) return "there is nothing to do";
  s.kind = *facts_of(n, p.model()).recurrent;
  s.by_batch = since >= 14 && int_attribute(n, "layout", 0) != 0;
  s.steps = x[s.by_batch ? 1 : 0];
  s.batch = x[s.by_batch ? 0 : 1];
  s.inputs = x[2];
  s.hidden = r[2];
  s.directions = r[0];
  const Attribute* direction = n.find_attribute("direction");
  s.backward = direction != nullptr && *direction->get_if<std::string>() == "reverse";
  s.linear_before_reset =
      s.kind == RecurrentKind::kGru && since >= 3 && int_attribute(n, "linear_before_reset", 0) != 0;
  s.coupled = s.kind == RecurrentKind::kLstm && int_attribute(n, "input_forget", 0) != 0;
  s.clip = static_cast<float>(p.attributes().attr_float("clip", std::numeric_limits<double>::infinity()));
  s.has_bias = p.has_input(3);
  s.has_peepholes = s.kind == RecurrentKind::kLstm && p.has_input(7);
  const int64_t rows = s.layer().gates() * s.hidden;
  const Shape state =
      s.by_batch ? Shape{s.batch, s.directions, s.hidden} : Shape{s.directions, s.batch, s.hidden};
  const std::pair<size_t, Shape> wanted[] = {{1, {s.directions, rows, s.inputs}},
                                             {2, {s.directions, rows, s.hidden}},
                                             {3, {s.directions, 2 * rows}},
                                             {4, {s.batch}},
                                             {5, state},
                                             {6, state},
                                             {7, {s.directions, 3 * s.hidden}}};
  for (const auto& [i, shape] : wanted)
    if (p.has_input(i) && *p.input_shape(i) != shape) return "the inputs do not fit each other";
  if (s.directions > 2 || !(s.clip >= 0)) return "the plain evaluation says what is wrong";
  return {};
}

void add_constants(const Problem& p, const Settings& s, Candidate& b) {
  constexpr size_t kInputs[] = {1, 2, 3, 7};
  constexpr std::string_view kNames[] = {"weights", "recurrent", "bias", "hidden bias", "peepholes"};
  for (int64_t d = 0; d < s.directions; ++d)
    for (size_t i = 0; i < kConstants; ++i) {
      if (s.numbers(i) == 0) {
        b.skip_input();
        continue;
      }
      const size_t input = kInputs[origin_of(i)];
      const UnalignedTensor& given = *p.input_constant(input);
      b.add_constant(p.node().input(input)->name(), given,
                     fmt::format("{} {} of direction {} in blocks of {}{}{}", p.node().op_type, kNames[i], d,
                                 kernels::gate_lanes(), s.linear_before_reset ? ", linear" : "",
                                 s.by_batch ? ", by batch" : ""),
                     [s, i, d, given] { return packed_constant(s, i, d, given); });
    }
}

void add_candidate(const Problem& p, const Settings& s, Proposals& proposals) {
  const std::string variant = s.packs ? "packs" : "";
  Candidate& b = proposals.add(!s.in_turn ? variant
                               : s.packs  ? "packs_in_turn"
                                          : "in_turn",
                               NumericsClass::kReassociated);
  const Node& n = p.node();
  const auto add = [&](const Value* v) { v != nullptr ? b.add_input(v) : b.skip_input(); };
  for (const size_t i : {0, 4, 5}) add(n.input(i));
  add(s.kind == RecurrentKind::kLstm ? n.input(6) : nullptr);
  if (s.packs)
    for (const size_t i : {1, 2, 3, 7}) add(i == 7 && !s.has_peepholes ? nullptr : n.input(i));
  else
    add_constants(p, s, b);
  for (size_t i = 0; i < 3; ++i) n.output(i) != nullptr ? b.add_output(n.output(i)) : b.skip_output();
  b.write(s);
  b.write(recurrent_functions(p, s.kind, s.directions));
  b.step.scratch_bytes = s.scratch_bytes();
  const auto rows = static_cast<double>(s.steps * s.batch);
  const auto inputs = static_cast<double>(s.directions * s.weights().numbers());
  const auto states = static_cast<double>(s.directions * s.layer().recurrent_numbers());
  const double work = estimate_seconds(2 * rows * (inputs + states), 4 * (inputs + states), 0.5);
  // What does not stay in the caches between steps is read again in each. Threads that share a step out meet
  // behind it.
  const bool stays = 4 * states / (s.in_turn ? static_cast<double>(s.directions) : 1.0) < kCachedBytes;
  const auto steps = static_cast<double>(s.steps);
  b.estimate = work + (stays ? 0 : estimate_seconds(0, 4 * states * (steps - 1), 1)) +
               (s.in_turn ? static_cast<double>(s.directions) * steps * kSecondsToMeet : 0);
}

std::string propose(const Problem& p, Proposals& proposals) {
  Settings s;
  if (std::string reason = read_node(p, s); !reason.empty()) return reason;
  s.lanes = kernels::gate_lanes();
  for (const size_t i : {1, 2, 3, 7}) s.packs = s.packs || (p.has_input(i) && p.input_constant(i) == nullptr);
  for (const bool in_turn : {false, true}) {
    if (in_turn && (s.directions < 2 || p.config().threads < 2)) continue;
    s.in_turn = in_turn;
    add_candidate(p, s, proposals);
  }
  return {};
}

class RecurrentKernel final : public ComplainingKernel {
 public:
  RecurrentKernel(const Settings& s, std::vector<RecurrentDirection> directions)
      : s_(s), directions_(std::move(directions)) {}

  std::string complaint(const KernelArgs& args) const override {
    const auto* lengths = static_cast<const int32_t*>(args.inputs[kLengths]);
    for (int64_t b = 0; lengths != nullptr && b < s_.batch; ++b)
      if (lengths[b] < 0 || lengths[b] > s_.steps)
        return fmt::format("a sequence length of {} is not in [0, {}]", lengths[b], s_.steps);
    return {};
  }
  Status run(const KernelArgs& args) noexcept override {
    RecurrentLayer layer = s_.layer();
    layer.lengths = static_cast<const int32_t*>(args.inputs[kLengths]);
    for (int64_t b = 0; layer.lengths != nullptr && b < s_.batch; ++b)
      if (layer.lengths[b] < 0 || layer.lengths[b] > s_.steps) return Status::kBadIndex;
    char* scratch = static_cast<char*>(args.scratch);
    const auto take = [&](int64_t bytes) {
      char* const at = scratch;
      scratch += bytes;
      return at;
    };
    for (int64_t i = 0; i < s_.directions; ++i) {
      if (s_.in_turn) scratch = static_cast<char*>(args.scratch);
      RecurrentDirection& d = directions_[static_cast<size_t>(i)];
      const float* constants[kConstants];
      if (s_.packs)
        pack(args, i, reinterpret_cast<float*>(take(s_.packed_bytes())), constants);
      else
        for (size_t c = 0; c < kConstants; ++c)
          constants[c] =
              static_cast<const float*>(args.inputs[kFirst + static_cast<size_t>(i) * kConstants + c]);
      auto* const products = reinterpret_cast<float*>(take(s_.product_bytes()));
      kernels::gate_products(s_.weights(), constants[kWeights], constants[kBias],
                             static_cast<const float*>(args.inputs[kSequence]), s_.steps * s_.batch,
                             products);
      d.inputs = products;
      d.recurrent = constants[kRecurrent];
      d.hidden_bias = constants[kHiddenBias];
      d.peepholes = constants[kPeepholes];
      d.scratch = take(layer.scratch_bytes());
      const int64_t at = i * s_.direction_stride();
      d.initial_hidden = moved(static_cast<const float*>(args.inputs[kInitialHidden]), at);
      d.initial_cell = moved(static_cast<const float*>(args.inputs[kInitialCell]), at);
      d.output = moved(static_cast<float*>(args.outputs[0]), at);
      d.last_hidden = moved(static_cast<float*>(args.outputs[1]), at);
      d.last_cell = s_.states() == 2 ? moved(static_cast<float*>(args.outputs[2]), at) : nullptr;
      if (s_.in_turn) kernels::run_recurrence(layer, &d, 1);
    }
    if (!s_.in_turn) kernels::run_recurrence(layer, directions_.data(), s_.directions);
    return Status::kOk;
  }

 private:
  template <typename T>
  static T* moved(T* p, int64_t by) {
    return p == nullptr ? nullptr : p + by;
  }

  void pack(const KernelArgs& args, int64_t direction, float* to,
            const float* (&constants)[kConstants]) const {
    float* places[kConstants];
    for (size_t c = 0; c < kConstants; ++c) {
      const int64_t numbers = s_.numbers(c);
      constants[c] = places[c] = numbers == 0 ? nullptr : to;
      to += align_up(static_cast<size_t>(numbers) * sizeof(float)) / sizeof(float);
    }
    const auto given = [&](size_t i) {
      return static_cast<const float*>(args.inputs[kFirst + i]) + direction * given_numbers(s_, i);
    };
    for (const size_t c : {kWeights, kRecurrent, kPeepholes})
      if (places[c] != nullptr) pack_constant(s_, c, given(origin_of(c)), places[c]);
    if (places[kBias] != nullptr)
      kernels::pack_recurrent_bias(s_.layer(), given(kBias), places[kBias], places[kHiddenBias]);
  }

  Settings s_;
  std::vector<RecurrentDirection> directions_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, kFirst + kGivenWeights, kFirst + 2 * kConstants, 3);
  const auto s = r.read<Settings>();
  StepReader::check(s.clip >= 0, "its sums are clipped at {}", s.clip);
  StepReader::check(s.lanes == kernels::gate_lanes(), "its weights are in blocks of {}", s.lanes);
  const size_t inputs = kFirst + (s.packs ? kGivenWeights : static_cast<size_t>(s.directions) * kConstants);
  StepReader::check(s.directions <= 2 && step.inputs.size() == inputs, "it has {} inputs for {} directions",
                    step.inputs.size(), s.directions);
  StepReader::check(s.states() == 2 || !r.has_output(2), "it has no cell states to give");
  r.product({s.steps, s.batch, s.directions, s.weights().row_numbers(), int64_t{sizeof(float)}});
  r.product({s.inputs + s.hidden, s.directions, s.weights().row_numbers(), int64_t{sizeof(float)}});
  r.check_elements(r.row_input(kSequence), {s.steps, s.batch, s.inputs});
  if (r.has_input(kLengths)) r.check_elements(r.row_input(kLengths, DType::kInt32), {s.batch});
  for (const size_t state : {kInitialHidden, kInitialCell})
    r.optional_elements(state, {s.directions, s.batch, s.hidden});
  for (size_t i = 0; i <= s.states(); ++i)
    if (r.has_output(i))
      r.check_elements(r.row_output(i), {i == 0 ? s.steps : 1, s.directions, s.batch, s.hidden});
  const bool there[] = {true, true, s.has_bias, s.has_peepholes};
  const auto check = [&](size_t input, bool needed, std::initializer_list<int64_t> factors) {
    StepReader::check(r.has_input(input) == needed, "its input {} is {}", input,
                      needed ? "left out" : "not used");
    if (needed) r.check_elements(r.row_input(input), factors);
  };
  if (s.packs) {
    for (size_t i = 0; i < kGivenWeights; ++i)
      check(kFirst + i, there[i], {s.directions, given_numbers(s, i)});
  } else {
    for (size_t d = 0; d < static_cast<size_t>(s.directions); ++d)
      for (size_t i = 0; i < kConstants; ++i)
        check(kFirst + d * kConstants + i, s.numbers(i) > 0, {s.numbers(i)});
  }
  r.check_scratch(s.scratch_bytes());
  return std::make_unique<RecurrentKernel>(s, read_recurrent_directions(r, s.kind, s.directions, s.backward));
}

}  // namespace

constinit const TacticDef def = {
    .name = "recurrent",
    .summary =
        "RNN, GRU and LSTM in every form: packed weights, the inputs of all steps in one product; directions "
        "side by side or in turn",
    .version = 3,
    .serves = serves,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_recurrent
