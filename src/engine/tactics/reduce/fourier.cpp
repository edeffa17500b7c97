// DFT and STFT of float32 numbers, their lengths known when the engine is built.
#include "kernels/fourier/fourier.h"

#include "engine/tactics/axis_walk.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_fourier {
namespace {

using kernels::Spectra;

constexpr std::string_view kOperators[] = {"DFT", "STFT"};

struct StepFields {
  AxisField axis;                ///< of DFT
  std::optional<int64_t> step;   ///< of STFT, from frame to frame
  int64_t length = 0, most = 0;  ///< `most`: what the length may be
  bool inverse = false;          ///< of DFT
  bool onesided = false;

  void fields(FieldVisitor& visit) {
    visit("step", step, Bounds{1, kMaxOfWindow});
    if (!step) axis.fields(visit);
    visit("length", length, {1, most});
    if (!step) visit("inverse", inverse);
    visit("onesided", onesided);
  }
};

/// The number in a constant input; nothing when it is not constant.
std::optional<int64_t> number_in(const Problem& p, size_t i) {
  const UnalignedTensor* t = p.input_constant(i);
  return t != nullptr && t->numel() == 1 ? std::optional(t->aligned().to_int64()[0]) : std::nullopt;
}

/// What leaves a step of these numbers and shapes; nothing where they do not belong together.
std::optional<Spectra> spectra_of_dft(const Shape& in, const Shape& out, size_t axis, int64_t length,
                                      bool inverse, bool onesided) {
  Spectra s{.length = length,
            .inverse = inverse,
            .given = in[axis],
            .parts = in.back(),
            .half = inverse && onesided};
  s.bins = onesided && !inverse ? length / 2 + 1 : length;
  s.out_parts = s.half ? 1 : 2;
  Shape wanted = in;
  wanted[axis] = s.bins;
  wanted[in.size() - 1] = s.out_parts;
  if (wanted != out || (s.parts != 1 && s.parts != 2)) return std::nullopt;
  const int64_t inner = in.numel(axis + 1, in.size() - 1);
  s.lines = in.numel(0, axis) * inner;
  s.in = {inner, s.given * inner * s.parts, s.parts, inner * s.parts};
  s.out = {inner, s.bins * inner * s.out_parts, s.out_parts, inner * s.out_parts};
  return s;
}

std::optional<Spectra> spectra_of_stft(const Shape& in, const Shape& out, int64_t step, int64_t length,
                                       bool onesided) {
  if (in.size() != 3 || (in[2] != 1 && in[2] != 2)) return std::nullopt;
  Spectra s{.length = length, .given = length, .parts = in[2]};
  s.bins = onesided ? length / 2 + 1 : length;
  if (length > in[1] || out != Shape{in[0], (in[1] - length) / step + 1, s.bins, 2}) return std::nullopt;
  const int64_t frames = out[1];
  s.lines = in[0] * frames;
  s.in = {frames, in[1] * s.parts, step * s.parts, s.parts};
  s.out = {frames, frames * s.bins * 2, s.bins * 2, 2};
  return s;
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

class FourierKernel final : public Kernel {
 public:
  explicit FourierKernel(const StepReader& r) : transform_(spectra_of(r)) {}
  Status run(const KernelArgs& args) noexcept override {
    return transform_.run(static_cast<const float*>(args.inputs[0]),
                          static_cast<const float*>(args.inputs[1]), static_cast<float*>(args.outputs[0]))
               ? Status::kOk
               : Status::kOutOfMemory;
  }

 private:
  static Spectra spectra_of(const StepReader& r) {
    const Shape &in = r.row_input(0).shape, &out = r.row_output(0).shape;
    // Twice as many numbers as the result has at most, which bounds the tables.
    const auto p = r.read(StepFields{.axis = axis_field(in), .most = 2 * std::max<int64_t>(out.numel(), 1)});
    std::optional<Spectra> s;
    if (p.step) {
      s = spectra_of_stft(in, out, *p.step, p.length, p.onesided);
    } else {
      StepReader::check(p.axis.at() + 1 < in.size(), "axis {} of {} holds the complex parts", p.axis.axis,
                        in.str());
      s = spectra_of_dft(in, out, p.axis.at(), p.length, p.inverse, p.onesided);
    }
    StepReader::check(s.has_value(), "transforms of {} do not make {} of {}", p.length, out.str(), in.str());
    r.optional_elements(1, {p.length});
    return *s;
  }

  kernels::FourierTransform transform_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<FourierKernel>(StepReader(plan, step, 2));
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
