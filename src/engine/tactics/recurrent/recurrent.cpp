// RNN, GRU and LSTM: one matrix product for the inputs of all steps, then the recurrence in vector kernels.
#include <algorithm>
#include <optional>

#include "analysis/match.h"
#include "engine/tactics/recurrent/recurrent_functions.h"
#include "engine/tactics/recurrent/recurrent_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "ops/node_facts.h"

namespace assay::engine::tactic_recurrent {
namespace {

bool serves(const OpFacts& facts) { return facts.recurrent.has_value(); }

/// For the choice without measurements: weights of so many bytes stay in the caches of a common CPU from step
/// to step, and threads that share a step out take so long to meet.
constexpr double kCachedBytes = 24e6, kSecondsToMeet = 2e-6;

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

bool knows_shapes(const Problem& p) {
  for (size_t i = 0; i < p.input_count(); ++i)
    if (p.has_input(i) && p.input_shape(i) == nullptr) return false;
  return true;
}

void read_attributes(const Problem& p, Settings& s) {
  const Node& n = p.node();
  const int64_t since = p.attributes().since();
  s.kind = *facts_of(n, p.model()).recurrent;
  s.by_batch = since >= 14 && int_attribute(n, "layout", 0) != 0;
  const Attribute* direction = n.find_attribute("direction");
  s.backward = direction != nullptr && *direction->get_if<std::string>() == "reverse";
  s.linear_before_reset =
      s.kind == RecurrentKind::kGru && since >= 3 && int_attribute(n, "linear_before_reset", 0) != 0;
  s.coupled = s.kind == RecurrentKind::kLstm && int_attribute(n, "input_forget", 0) != 0;
  s.clip = static_cast<float>(p.attributes().attr_float("clip", std::numeric_limits<double>::infinity()));
  s.has_bias = p.has_input(3);
  s.has_peepholes = s.kind == RecurrentKind::kLstm && p.has_input(7);
}

/// Of ranks that are right.
void read_sizes(const Shape& x, const Shape& r, Settings& s) {
  s.steps = x[s.by_batch ? 1 : 0];
  s.batch = x[s.by_batch ? 0 : 1];
  s.inputs = x[2];
  s.hidden = r[2];
  s.directions = r[0];
}

/// All inputs have the shapes that the sizes ask for.
bool do_inputs_fit(const Problem& p, const Settings& s) {
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
    if (p.has_input(i) && *p.input_shape(i) != shape) return false;
  return true;
}

/// The settings, or why the node is not served.
std::string read_node(const Problem& p, Settings& s) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (!knows_shapes(p)) return "a shape is not known before the run";
  const Shape &x = *p.input_shape(0), &w = *p.input_shape(1), &r = *p.input_shape(2);
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return "the ranks are wrong";
  if (x.numel() == 0 || w.numel() == 0 || r.numel() == 0) return "there is nothing to do";
  read_attributes(p, s);
  read_sizes(x, r, s);
  if (!do_inputs_fit(p, s)) return "the inputs do not fit each other";
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

}  // namespace

constinit const TacticDef def = {
    .name = "recurrent",
    .summary =
        "RNN, GRU and LSTM in every form: packed weights, the inputs of all steps in one product; directions "
        "side by side or in turn",
    .version = 4,
    .serves = serves,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_recurrent
