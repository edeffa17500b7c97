#include "engine/tactics/recurrent/recurrent_kernel.h"

#include "engine/runtime/complaint.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_recurrent {
namespace {

/// Inputs of the step: the sequence, lengths and initial states; then the constants of each direction, or the
/// node's own weights, biases and peepholes.
enum Input : size_t { kSequence, kLengths, kInitialHidden, kInitialCell, kFirst };

constexpr size_t kGivenWeights = 4;  ///< W, R, B, P

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

}  // namespace

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

}  // namespace assay::engine::tactic_recurrent
