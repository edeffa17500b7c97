// DFT and STFT of float32 numbers, their lengths known when the engine is built.
#include "engine/tactics/reduce/fourier_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_fourier {
namespace {

constexpr std::string_view kOperators[] = {"DFT", "STFT"};

/// The number in a constant input; nothing when it is not constant.
std::optional<int64_t> number_in(const Problem& p, size_t i) {
  const UnalignedTensor* t = p.input_constant(i);
  return t != nullptr && t->numel() == 1 ? std::optional(t->aligned().to_int64()[0]) : std::nullopt;
}

std::string propose_stft(const Problem& p, const Shape& in, const Shape& out, Candidate& b) {
  const std::optional<int64_t> step = number_in(p, 1);
  std::optional<int64_t> length;
  if (p.input_count() > 3 && p.has_input(3)) {
    length = number_in(p, 3);
  } else if (p.has_input(2)) {
    if (p.input_shape(2) != nullptr) length = p.input_shape(2)->numel();
  } else if (in.size() > 1) {
    length = in[1];
  }
  if (!step || !length) return "step or length of the frames is not constant";
  const bool onesided = int_attribute(p.node(), "onesided", 1) != 0;
  const bool has_window = p.input_count() > 2 && p.has_input(2);
  if (*step < 1 || *length < 1 || !spectra_of_stft(in, out, *step, *length, onesided) ||
      (has_window && (p.input_shape(2) == nullptr || p.input_shape(2)->numel() != *length)))
    return "its frames do not fit the signal";
  has_window ? b.add_input(p.node().input(2)) : b.skip_input();
  b.write(StepFields{.axis = {}, .step = *step, .length = *length, .onesided = onesided});
  return {};
}

std::string propose_dft(const Problem& p, const Shape& in, const Shape& out, Candidate& b) {
  const Node& n = p.node();
  int64_t axis = n.find_attribute("axis") != nullptr ? int_attribute(n, "axis", 1) : -2;
  if (p.op().version->since < 20) {
    axis = int_attribute(n, "axis", 1);
  } else if (p.input_count() > 2 && p.has_input(2)) {
    const std::optional<int64_t> given = number_in(p, 2);
    if (!given) return "the axis is not constant";
    axis = *given;
  }
  const auto at = static_cast<size_t>(normalize_axis(axis, in.rank()));
  const bool inverse = int_attribute(n, "inverse", 0) != 0, onesided = int_attribute(n, "onesided", 0) != 0;
  if (in.size() < 2 || at + 1 >= in.size()) return "the axis is the one of the complex parts";
  int64_t length = inverse && onesided ? 2 * (in[at] - 1) : in[at];
  if (p.input_count() > 1 && p.has_input(1)) {
    const std::optional<int64_t> given = number_in(p, 1);
    if (!given) return "the length is not constant";
    length = *given;
  }
  if (length < 1 || !spectra_of_dft(in, out, at, length, inverse, onesided))
    return "its length does not fit the result";
  b.skip_input();
  b.write(
      StepFields{.axis = axis_field(axis, in), .length = length, .inverse = inverse, .onesided = onesided});
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  Candidate b;
  b.add_input(p.node().input(0));
  const std::string reason =
      is_op(p.node(), "STFT") ? propose_stft(p, *in, *out, b) : propose_dft(p, *in, *out, b);
  if (!reason.empty()) return reason;
  b.add_output(p.node().output(0));
  b.numerics = NumericsClass::kReassociated;
  b.estimate = estimate_seconds(50.0 * static_cast<double>(out->numel()), 0, 0.1);
  proposals.candidates().push_back(std::move(b));
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "fourier",
    .summary = "fast Fourier transforms of lines and frames",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_fourier
