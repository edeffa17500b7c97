// Pad: rows are copied, and what stands beyond their ends.
#include "kernels/copy/pad.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "analysis/match.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_pad {
namespace {

constexpr std::string_view kOperators[] = {"Pad"};

struct StepFields {
  size_t rank = 0;
  kernels::PadMode mode = kernels::PadMode::kConstant;
  std::vector<int64_t> pads;  ///< before each axis, then behind each
  double value = 0;

  void fields(FieldVisitor& visit) {
    visit("mode", mode, kernels::kPadModes, "the mode '{}' is unknown");
    visit("pads", pads, 2 * rank, {-kMaxOfWindow, kMaxOfWindow});
    visit("value", value);
  }
};

/// Elements added before and after each axis, negative where they are cut off; nothing when not constant.
std::optional<std::vector<int64_t>> pads_of(const Problem& p) {
  const Node& n = p.node();
  const auto given = ints_parameter(n, n.find_attribute("paddings") != nullptr ? "paddings" : "pads", 1);
  const size_t rank = p.input_shape(0)->size();
  if (!given) return std::nullopt;
  std::vector<int64_t> pads(2 * rank);
  if (n.input(3) == nullptr) return given->size() == 2 * rank ? given : std::nullopt;
  const auto axes = integers_of(n.input(3));
  if (!axes || given->size() != 2 * axes->size()) return std::nullopt;
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis((*axes)[i], static_cast<int>(rank)));
    pads[axis] = (*given)[i];
    pads[rank + axis] = (*given)[axes->size() + i];
  }
  return pads;
}

std::string mode_of(const Node& n) { return std::string(string_attribute(n, "mode", "constant")); }

/// Whether something is left of each axis that is padded from itself.
bool keeps_elements(const Shape& shape, const std::vector<int64_t>& pads) {
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t begin = pads[d], end = pads[shape.size() + d];
    const int64_t left = shape[d] + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
    if (left <= 0 && shape[d] + begin + end != 0) return false;
  }
  return true;
}

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  const std::string mode = mode_of(p.node());
  if (std::find(kernels::kPadModes.begin(), kernels::kPadModes.end(), mode) == kernels::kPadModes.end())
    return fmt::format("the mode '{}' is unknown", mode);
  if (p.node().find_attribute("value") != nullptr && p.input_dtype(0) != DType::kFloat32)
    return "a number of another type is an attribute";
  if (p.input_count() > 2 && p.has_input(2) &&
      (p.input_shape(2) == nullptr || p.input_shape(2)->numel() != 1))
    return "the number that is padded with is not one";
  const auto pads = pads_of(p);
  if (!pads) return "the padding is not a constant";
  return mode == "constant" || keeps_elements(*p.input_shape(0), *pads)
             ? ""
             : "the plain evaluation says of which axis nothing is left";
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const std::string mode = mode_of(p.node());
  Candidate& b = proposals.add(mode, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  if (mode == "constant" && p.input_count() > 2 && p.has_input(2)) b.add_input(p.node().input(2));
  b.add_output(p.node().output(0));
  const auto number = std::ranges::find(kernels::kPadModes, mode) - kernels::kPadModes.begin();
  b.write(StepFields{.mode = static_cast<kernels::PadMode>(number),
                     .pads = *pads_of(p),
                     .value = float_attribute(p.node(), "value", 0)});
  b.estimate = estimate_seconds(0,
                                2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), 1)) *
                                    static_cast<double>(p.output_shape(0)->numel()),
                                1);
  return {};
}

class PadKernel final : public Kernel {
 public:
  /// Without an input that holds the number, it is `value`, or 0 of another type than float32.
  PadKernel(kernels::PadCopy copy, float value) : copy_(std::move(copy)) {
    std::memcpy(value_.data(), &value, sizeof value);
  }
  Status run(const KernelArgs& args) noexcept override {
    const void* const given = args.inputs.size() > 1 ? args.inputs[1] : nullptr;
    copy_.run(args.inputs[0], args.outputs[0], given != nullptr ? given : value_.data());
    return Status::kOk;
  }

 private:
  kernels::PadCopy copy_;
  alignas(16) std::array<std::byte, 16> value_ = {};
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1, 2);
  const PlanValue& in = r.raw_input(0);
  const PlanValue& out = r.row_output(0, in.dtype);
  const size_t rank = in.shape.size();
  const auto p = r.read(StepFields{.rank = rank, .pads = {}});
  const std::vector<int64_t>& pads = p.pads;
  const std::vector<int64_t> begin(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank)),
      end(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  bool fits = out.shape.size() == rank;
  for (size_t d = 0; fits && d < rank; ++d) {
    const int64_t left = in.shape[d] + std::min<int64_t>(begin[d], 0) + std::min<int64_t>(end[d], 0);
    fits = left >= 0 && out.shape[d] == in.shape[d] + begin[d] + end[d] &&
           (left > 0 || out.shape[d] == 0 || p.mode == kernels::PadMode::kConstant);
  }
  StepReader::check(fits, "pads {} do not make {} from {}", fmt::join(pads, ", "), out.shape.str(),
                    in.shape.str());
  if (r.has_input(1))
    StepReader::check(r.row_input(1, in.dtype).shape.numel() == 1, "it pads with {} numbers",
                      r.row_input(1, in.dtype).shape.numel());
  const auto value = static_cast<float>(p.value);
  StepReader::check(value == 0 || in.dtype == DType::kFloat32, "it pads {} with a float32",
                    dtype_name(in.dtype));
  return std::make_unique<PadKernel>(
      kernels::PadCopy(in.shape, begin, end, p.mode, storage_bytes(in.dtype, 1)), value);
}

}  // namespace

constinit const TacticDef def = {
    .name = "pad",
    .summary = "Pad in all its modes",
    .version = 2,
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_pad
