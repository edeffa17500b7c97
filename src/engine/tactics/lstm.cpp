// LSTM: one matrix product for the inputs of all steps, then the recurrence in a vector kernel.
#include "kernels/rnn/lstm.h"

#include <algorithm>
#include <cstring>

#include "engine/runtime/arena.h"
#include "engine/tactics/dnnl_epilogue.h"
#include "engine/tactics/tactic_list.h"
#include "passes/match.h"

namespace assay::engine::tactic_lstm {
namespace {

using dnnl::memory;

constexpr std::string_view kOperators[] = {"LSTM"};

/// Inputs of the step: the sequence, initial states, recurrent weights; then packed weights and bias of each
/// direction.
enum Input : size_t { kSequence, kInitialHidden, kInitialCell, kRecurrent, kFirstDirection };

struct Sizes {
  int64_t steps, batch, inputs, hidden, directions;

  int64_t gates() const { return 4 * hidden; }
  size_t gate_bytes() const { return align_up(static_cast<size_t>(steps * batch * gates()) * sizeof(float)); }
  size_t state_bytes() const {
    return align_up(static_cast<size_t>(directions * batch * hidden) * sizeof(float));
  }
  size_t output_bytes() const {
    return align_up(static_cast<size_t>(steps * directions * batch * hidden) * sizeof(float));
  }
  /// Without what the products need.
  int64_t scratch_bytes() const {
    return static_cast<int64_t>(static_cast<size_t>(directions) * gate_bytes() + state_bytes() +
                                output_bytes());
  }
};

Sizes sizes_of(const Problem& p) {
  const Shape &x = *p.input_shape(0), &r = p.input_constant(2)->shape();
  return {.steps = x[0], .batch = x[1], .inputs = x[2], .hidden = r[2], .directions = r[0]};
}

std::string supports(const Problem& p) {
  const Shape* x = p.input_shape(0);
  if (x == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (p.input_constant(1) == nullptr || p.input_constant(2) == nullptr) return "the weights are not constant";
  if (p.has_input(3) && p.input_constant(3) == nullptr) return "the bias is not constant";
  if (p.has_input(4)) return "the sequences have lengths of their own";
  if (p.has_input(7)) return "there are peepholes";
  const Node& n = p.node();
  if (int_attribute(n, "layout", 0) != 0) return "the batch comes first";
  if (int_attribute(n, "input_forget", 0) != 0) return "input and forget gates are coupled";
  if (n.find_attribute("clip") != nullptr) return "the gates are clipped";
  if (const Attribute* a = n.find_attribute("activations"); a != nullptr) {
    const auto& names = *a->get_if<std::vector<std::string>>();
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] != (i % 3 == 0 ? "Sigmoid" : "Tanh")) return "the activations are not the usual ones";
  }
  return x->numel() == 0 ? "the sequence is empty" : "";
}

/// The gates of each thread: columns of the product.
std::vector<Box> parts_of(const Sizes& s, int64_t threads) {
  const std::vector<int64_t> bounds = bounds_of(s.gates(), threads, 16);
  std::vector<Box> parts;
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    parts.push_back({Shape{0, bounds[i]}, Shape{s.steps * s.batch, bounds[i + 1] - bounds[i]}});
  return parts;
}

/// A matrix [rows, inputs] times the transposed weights [gates, inputs], of the gates of a part.
dnnl::matmul::primitive_desc describe(const Sizes& s, const Box& part) {
  const Shape rows = {s.steps * s.batch, s.inputs}, gates = {s.steps * s.batch, s.gates()};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  return {dnnl::matmul::desc(memory_desc(rows, {}), any_desc({s.inputs, part.size[1]}),
                             memory_desc({1, part.size[1]}, {}), part_desc(gates, {}, part)),
          attributes, dnnl_engine()};
}

/// The product's packed weights, and the scratch that it needs.
std::pair<PackedWeights, int64_t> packing_of(const Sizes& s, int64_t threads) {
  PackedWeights weights;
  int64_t scratch = 0;
  for (const Box& part : parts_of(s, threads)) {
    const dnnl::matmul::primitive_desc pd = describe(s, part);
    weights.add(part.begin[1], pd.weights_desc());
    scratch += scratch_bytes(pd.scratchpad_desc());
  }
  return {std::move(weights), scratch};
}

/// Input and recurrent biases of a direction added up; zeros when `b` is undefined.
Tensor bias_of(const Tensor& b, const Sizes& s, int64_t direction) {
  Tensor sum = Tensor::zeros(DType::kFloat32, {s.gates()});
  if (!b.defined()) return sum;
  const float* from = b.data<float>() + direction * 2 * s.gates();
  float* to = sum.mutable_data<float>();
  for (int64_t i = 0; i < s.gates(); ++i) to[i] = from[i] + from[s.gates() + i];
  return sum;
}

Tensor weights_of(const UnalignedTensor& w, const Sizes& s, int64_t direction, const PackedWeights& packed,
                  const std::vector<Box>& parts) {
  const Tensor whole = w.aligned();
  const auto* from = whole.data<float>() + direction * s.gates() * s.inputs;
  return packed.pack([&](int64_t gate) {
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](const Box& x) { return x.begin[1] == gate; });
    const memory::desc given({s.inputs, part->size[1]}, memory::data_type::f32, memory::dims{1, s.inputs});
    return std::pair(
        Tensor::view(DType::kFloat32, {part->size[1], s.inputs}, from + gate * s.inputs, nullptr), given);
  });
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  const Sizes s = sizes_of(p);
  const Node& n = p.node();
  const int64_t threads = p.config().threads;
  const auto [packing, product_scratch] = packing_of(s, threads);
  b.add_input(n.input(0));
  n.input(5) != nullptr ? b.add_input(n.input(5)) : b.skip_input();
  n.input(6) != nullptr ? b.add_input(n.input(6)) : b.skip_input();
  b.add_input(n.input(2));
  const UnalignedTensor &w = *p.input_constant(1), *bias = p.input_constant(3);
  for (int64_t d = 0; d < s.directions; ++d) {
    b.add_constant(n.input(1)->name(), w, fmt::format("direction {} in {}", d, packing.str()),
                   [w, s, d, packed = packing, parts = parts_of(s, threads)] {
                     return weights_of(w, s, d, packed, parts);
                   });
    b.add_constant("bias", bias != nullptr ? *bias : w,
                   fmt::format("{} of direction {}", bias != nullptr ? "sum" : "zeros", d),
                   [given = bias != nullptr ? *bias : UnalignedTensor(), s, d] {
                     return bias_of(given.aligned(), s, d);
                   });
  }
  for (size_t i = 0; i < 3; ++i) n.output(i) != nullptr ? b.add_output(n.output(i)) : b.skip_output();
  Parameters& parameters = b.step.parameters;
  parameters.set("sizes", std::vector<int64_t>{s.steps, s.batch, s.inputs, s.hidden, s.directions});
  parameters.set("threads", threads);
  parameters.set("backward", int64_t{string_attribute(n, "direction", "forward") == "reverse"});
  b.step.scratch_bytes = s.scratch_bytes() + product_scratch;
  return {};
}

class LstmKernel final : public Kernel {
 public:
  LstmKernel(const Sizes& s, int64_t threads, bool backward)
      : s_(s), directions_(static_cast<size_t>(s.directions)) {
    const Shape gates = {s.steps * s.batch, s.gates()};
    constexpr auto kWidth = static_cast<int64_t>(sizeof(float));
    for (int64_t d = 0; d < s.directions; ++d) {
      directions_[static_cast<size_t>(d)] = {.steps = s.steps,
                                             .batch = s.batch,
                                             .hidden = s.hidden,
                                             .output_step = s.directions * s.batch * s.hidden,
                                             .backward = backward || d == 1};
      auto product = std::make_unique<DnnlKernel>();
      PackedWeights packing;
      for (const Box& part : parts_of(s, threads)) {
        const dnnl::matmul::primitive_desc pd = describe(s, part);
        product->add_primitive(dnnl::matmul(pd));
        product->add_input(DNNL_ARG_SRC, pd.src_desc(), 0);
        product->add_input(DNNL_ARG_WEIGHTS, pd.weights_desc(), 1,
                           packing.add(part.begin[1], pd.weights_desc()));
        product->add_input(DNNL_ARG_BIAS, pd.bias_desc(), 2, part.begin[1] * kWidth);
        product->add_output(DNNL_ARG_DST, pd.dst_desc(), 0, part_offset(gates, {}, part) * kWidth);
        product->add_scratch(pd.scratchpad_desc());
      }
      products_.push_back(std::move(product));
    }
  }

  Status run(const KernelArgs& args) noexcept override {
    char* scratch = static_cast<char*>(args.scratch);
    const auto take = [&](size_t bytes) {
      char* p = scratch;
      scratch += bytes;
      return reinterpret_cast<float*>(p);
    };
    float* cells = take(s_.state_bytes());
    float* spare = take(s_.output_bytes());
    float* output = args.outputs[0] != nullptr ? static_cast<float*>(args.outputs[0]) : spare;
    const int64_t state = s_.batch * s_.hidden;
    std::memset(cells, 0, s_.state_bytes());
    if (args.inputs[kInitialCell] != nullptr)
      std::memcpy(cells, args.inputs[kInitialCell],
                  static_cast<size_t>(s_.directions * state) * sizeof(float));
    for (kernels::LstmDirection& direction : directions_) direction.inputs = take(s_.gate_bytes());
    for (size_t d = 0; d < directions_.size(); ++d) {
      const auto at = static_cast<int64_t>(d);
      kernels::LstmDirection& direction = directions_[d];
      const void* inputs[] = {args.inputs[kSequence], args.inputs[kFirstDirection + 2 * d],
                              args.inputs[kFirstDirection + 2 * d + 1]};
      void* outputs[] = {direction.inputs};
      if (const Status status = products_[d]->run({inputs, outputs, scratch}); status != Status::kOk)
        return status;
      direction.recurrent =
          static_cast<const float*>(args.inputs[kRecurrent]) + at * 4 * s_.hidden * s_.hidden;
      const auto* hidden = static_cast<const float*>(args.inputs[kInitialHidden]);
      direction.initial_hidden = hidden != nullptr ? hidden + at * state : nullptr;
      direction.cell = cells + at * state;
      direction.output = output + at * state;
    }
    kernels::lstm(directions_.data(), s_.directions);
    copy_last_states(args, output, cells, state);
    return Status::kOk;
  }

 private:
  void copy_last_states(const KernelArgs& args, const float* output, const float* cells,
                        int64_t state) const {
    const size_t bytes = static_cast<size_t>(state) * sizeof(float);
    for (int64_t d = 0; d < s_.directions && args.outputs[1] != nullptr; ++d) {
      const int64_t t = directions_[static_cast<size_t>(d)].backward ? 0 : s_.steps - 1;
      std::memcpy(static_cast<float*>(args.outputs[1]) + d * state, output + (t * s_.directions + d) * state,
                  bytes);
    }
    if (args.outputs[2] != nullptr)
      std::memcpy(args.outputs[2], cells, bytes * static_cast<size_t>(s_.directions));
  }

  Sizes s_;
  std::vector<kernels::LstmDirection> directions_;
  std::vector<std::unique_ptr<DnnlKernel>> products_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, kFirstDirection + 2, kFirstDirection + 4, 3);
  const auto& v = r.numbers("sizes", 5, 1, kMostOfWindow);
  const Sizes s{v[0], v[1], v[2], v[3], v[4]};
  StepReader::check(
      s.directions <= 2 && step.inputs.size() == kFirstDirection + 2 * static_cast<size_t>(s.directions),
      "it has {} inputs for {} directions", step.inputs.size(), s.directions);
  r.product({s.steps, s.batch, s.directions, 4 * s.hidden, static_cast<int64_t>(sizeof(float))});
  r.check_elements(r.row_input(kSequence), {s.steps, s.batch, s.inputs});
  r.check_elements(r.row_input(kRecurrent), {s.directions, 4 * s.hidden, s.hidden});
  for (const size_t state : {kInitialHidden, kInitialCell})
    r.optional_elements(state, {s.directions, s.batch, s.hidden});
  for (size_t i = 0; i < 3; ++i)
    if (r.has_output(i))
      r.check_elements(r.row_output(i), {i == 0 ? s.steps : 1, s.directions, s.batch, s.hidden});
  const auto [packing, product_scratch] = packing_of(s, r.threads());
  for (size_t d = 0; d < static_cast<size_t>(s.directions); ++d) {
    r.check_elements(r.row_input(kFirstDirection + 2 * d, DType::kUInt8), {packing.bytes()});
    r.check_elements(r.row_input(kFirstDirection + 2 * d + 1), {s.gates()});
  }
  r.check_scratch(s.scratch_bytes() + product_scratch);
  return std::make_unique<LstmKernel>(s, r.threads(), r.flag("backward"));
}

}  // namespace

constinit const TacticDef def = {
    .name = "lstm",
    .summary = "LSTM with packed weights, in all directions",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = dnnl_kernel<create>},
};

}  // namespace assay::engine::tactic_lstm
