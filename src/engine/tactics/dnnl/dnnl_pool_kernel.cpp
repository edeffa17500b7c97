#include "engine/tactics/dnnl/dnnl_pool_kernel.h"

#include "base/parallel.h"

namespace assay::engine::tactic_dnnl_pool {
namespace {

PoolShape shape_of(const StepReader& r) {
  PoolShape s{.in = r.input(0).shape, .out = r.output(0).shape, .p = {}};
  const size_t axes = check_images(s.in, s.out) - 2;
  StepReader::check(s.in[1] == s.out[1] && r.input(0).layout == r.output(0).layout, "it makes {} of {}",
                    s.out.str(), s.in.str());
  s.p = r.read(StepFields{.window = {axes}});
  const DnnlWindowFields& w = s.p.window;
  for (size_t a = 0; a < axes; ++a) {
    const int64_t reach = (s.p.kernel[a] - 1) * (w.dilations[a] + 1) + 1;
    StepReader::check(w.begin[a] < reach && w.end[a] < reach &&
                          w.end[a] == (s.out[a + 2] - 1) * w.strides[a] + reach - w.begin[a] - s.in[a + 2],
                      "its windows do not fit {}", s.in.str());
  }
  return s;
}

/// What oneDNN leaves out: NaN, which it skips where the reference gives it on, and minus infinity, for which
/// it gives the least finite number where a window holds nothing else.
class LargestKernel final : public Kernel {
 public:
  LargestKernel(std::unique_ptr<Kernel> pool, PoolShape shape, Layout layout)
      : pool_(std::move(pool)), shape_(std::move(shape)), layout_(layout) {}

  Status run(const KernelArgs& args) noexcept override {
    if (const Status status = pool_->run(args); status != Status::kOk) return status;
    const auto* x = static_cast<const float*>(args.inputs[0]);
    auto* y = static_cast<float*>(args.outputs[0]);
    const int64_t block = layout_.is_blocked() ? layout_.block : 1;
    const int64_t groups = (shape_.out[1] + block - 1) / block;
    const int64_t per_group = shape_.out.numel(2, shape_.out.size()) * block;
    const int64_t in_group = shape_.in.numel(2, shape_.in.size()) * block;
    parallel_for(shape_.out[0] * groups, std::max<int64_t>(1, kGrain / per_group),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t g = begin; g < end; ++g) {
                     const bool nan = has_nan(x + g * in_group, in_group);
                     if (nan || has_least(y + g * per_group, per_group)) look_again(x, y, g, block, nan);
                   }
                 });
    return Status::kOk;
  }

 private:
  static constexpr float kMin = std::numeric_limits<float>::lowest();
  static constexpr int64_t kGrain = 1 << 15;

  static bool has_least(const float* y, int64_t count) {
    int found = 0;
#pragma omp simd reduction(| : found)
    for (int64_t i = 0; i < count; ++i) found |= y[i] == kMin ? 1 : 0;
    return found != 0;
  }

  static bool has_nan(const float* x, int64_t count) {
    int found = 0;
#pragma omp simd reduction(| : found)
    for (int64_t i = 0; i < count; ++i) found |= x[i] != x[i] ? 1 : 0;
    return found != 0;
  }

  /// Of `block` channels side by side; `all` results, or those that may be wrong without NaN.
  void look_again(const float* x, float* y, int64_t group, int64_t block, bool all) const {
    const int64_t pixels = shape_.out.numel(2, shape_.out.size());
    x += group * shape_.in.numel(2, shape_.in.size()) * block;
    y += group * pixels * block;
    for (int64_t i = 0; i < pixels * block; ++i)
      if (all || y[i] == kMin) y[i] = largest(x + i % block, i / block, block);
  }

  /// Of the window at a pixel of the result; NaN is larger than all numbers.
  float largest(const float* x, int64_t pixel, int64_t block) const {
    const StepFields& p = shape_.p;
    const size_t axes = p.kernel.size();
    std::array<int64_t, 3> begin{}, tap{};
    for (size_t a = axes; a-- > 0; pixel /= shape_.out[a + 2])
      begin[a] = pixel % shape_.out[a + 2] * p.window.strides[a] - p.window.begin[a];
    float most = -std::numeric_limits<float>::infinity();
    do {
      int64_t place = 0;
      bool is_inside = true;
      for (size_t a = 0; a < axes; ++a) {
        const int64_t at = begin[a] + tap[a] * (p.window.dilations[a] + 1);
        is_inside = is_inside && at >= 0 && at < shape_.in[a + 2];
        place = place * shape_.in[a + 2] + at;
      }
      if (!is_inside) continue;
      if (const float value = x[place * block]; !(value <= most)) most = value;
      if (most != most) break;
    } while (next(tap));
    return most;
  }

  bool next(std::array<int64_t, 3>& tap) const {
    for (size_t a = shape_.p.kernel.size(); a-- > 0; tap[a] = 0)
      if (++tap[a] < shape_.p.kernel[a]) return true;
    return false;
  }

  std::unique_ptr<Kernel> pool_;
  PoolShape shape_;
  Layout layout_;
};

std::unique_ptr<Kernel> make_kernel(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PoolShape s = shape_of(r);
  const Layout layout = r.output(0).layout;
  auto pool = make_image_kernel<Pool>(
      r, parts_of(s.out, layout, r.read<DnnlFields>().threads),
      [&](const Box& part) { return input_part(s.in, part); },
      [&](Layout in, const Box& part) { return describe(s, in, part); });
  if (s.p.kind != PoolWay::kMax) return pool;
  return std::make_unique<LargestKernel>(std::move(pool), s, layout);
}

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return dnnl_kernel<make_kernel>(plan, step);
}

}  // namespace assay::engine::tactic_dnnl_pool
