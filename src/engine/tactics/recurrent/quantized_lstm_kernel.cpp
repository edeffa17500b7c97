#include "engine/tactics/recurrent/quantized_lstm_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_quantized_lstm {
namespace {

/// Inputs of the step: the sequence and the initial states; then the constants of each direction.
enum Input : size_t { kSequence, kInitialHidden, kInitialCell, kFirst };

class QuantizedLstmKernel final : public Kernel {
 public:
  QuantizedLstmKernel(const Sizes& s, std::vector<RecurrentDirection> directions)
      : s_(s), directions_(std::move(directions)) {}

  Status run(const KernelArgs& args) noexcept override {
    const RecurrentLayer layer = s_.layer();
    char* scratch = static_cast<char*>(args.scratch);
    const auto take = [&](int64_t bytes) {
      char* const at = scratch;
      scratch += bytes;
      return at;
    };
    const int64_t rows = s_.steps * s_.batch;
    const kernels::QuantizedRows x = kernels::quantize_rows(static_cast<const float*>(args.inputs[kSequence]),
                                                            rows, s_.inputs, take(s_.quantized_bytes()));
    auto* const column_scales = reinterpret_cast<float*>(take(s_.scales_bytes()));
    for (int64_t i = 0; i < s_.directions; ++i) {
      RecurrentDirection& d = directions_[static_cast<size_t>(i)];
      const auto constant = [&](size_t which) {
        return args.inputs[kFirst + static_cast<size_t>(i) * kConstants + which];
      };
      const auto reals = [&](size_t which) { return static_cast<const float*>(constant(which)); };
      auto* const sums = reinterpret_cast<float*>(take(s_.sums_bytes()));
      kernels::quantized_gate_products(s_.matrix(0),
                                       {s_.weights(0), constant(kWeights), reals(kWeightScales)},
                                       reals(kBias), x, rows, column_scales, sums);
      d.inputs = sums;
      d.levels = {s_.weights(1), constant(kRecurrent), reals(kRecurrentScales)};
      d.peepholes = reals(kPeepholes);
      d.scratch = take(Sizes::aligned(layer.scratch_bytes()));
      const int64_t at = i * s_.batch * s_.hidden;
      d.initial_hidden = moved(static_cast<const float*>(args.inputs[kInitialHidden]), at);
      d.initial_cell = moved(static_cast<const float*>(args.inputs[kInitialCell]), at);
      d.output = moved(static_cast<float*>(args.outputs[0]), at);
      d.last_hidden = moved(static_cast<float*>(args.outputs[1]), at);
      d.last_cell = moved(static_cast<float*>(args.outputs[2]), at);
    }
    kernels::run_recurrence(layer, directions_.data(), s_.directions);
    return Status::kOk;
  }

 private:
  template <typename T>
  static T* moved(T* p, int64_t by) {
    return p == nullptr ? nullptr : p + by;
  }

  Sizes s_;
  std::vector<RecurrentDirection> directions_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, kFirst + size_t{kConstants}, kFirst + size_t{2} * kConstants, 3);
  const auto s = r.read<Sizes>();
  StepReader::check(s.clip >= 0, "its sums are clipped at {}", s.clip);
  StepReader::check(s.lanes == kernels::gate_lanes(), "its weights are in blocks of {}", s.lanes);
  StepReader::check(kernels::takes_quantized(s.matrix(0)), "this processor's vectors are too short for it");
  StepReader::check(std::max(s.inputs, s.hidden) <= kernels::kMaxInt8Sum, "its sums may exceed 32 bits");
  StepReader::check(
      s.directions <= 2 && step.inputs.size() == kFirst + static_cast<size_t>(s.directions) * kConstants,
      "it has {} inputs for {} directions", step.inputs.size(), s.directions);
  r.product({s.steps, s.batch, s.directions, s.matrix(0).row_numbers(), int64_t{sizeof(float)}});
  r.product({s.inputs + s.hidden, s.directions, s.matrix(0).row_numbers(), int64_t{sizeof(float)}});
  r.check_elements(r.row_input(kSequence), {s.steps, s.batch, s.inputs});
  for (const size_t state : {kInitialHidden, kInitialCell})
    r.optional_elements(state, {s.directions, s.batch, s.hidden});
  for (size_t i = 0; i < 3; ++i)
    if (r.has_output(i))
      r.check_elements(r.row_output(i), {i == 0 ? s.steps : 1, s.directions, s.batch, s.hidden});
  for (size_t d = 0; d < static_cast<size_t>(s.directions); ++d)
    for (size_t i = 0; i < kConstants; ++i) {
      const size_t input = kFirst + d * kConstants + i;
      const int64_t elements = s.elements(i);
      StepReader::check(r.has_input(input) == (elements > 0), "its input {} is {}", input,
                        elements > 0 ? "left out" : "not used");
      if (elements > 0)
        r.check_elements(r.row_input(input, i <= kRecurrent ? DType::kUInt8 : DType::kFloat32), {elements});
    }
  r.check_scratch(s.scratch_bytes());
  return std::make_unique<QuantizedLstmKernel>(
      s, read_recurrent_directions(r, RecurrentKind::kLstm, s.directions, s.backward));
}

}  // namespace assay::engine::tactic_quantized_lstm
