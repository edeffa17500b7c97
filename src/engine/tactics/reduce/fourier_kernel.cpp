#include "engine/tactics/reduce/fourier_kernel.h"

namespace assay::engine::tactic_fourier {
namespace {

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

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<FourierKernel>(StepReader(plan, step, 2));
}

}  // namespace assay::engine::tactic_fourier
