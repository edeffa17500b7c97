// Pooling through oneDNN, in the layout that the input has.
#include <algorithm>
#include <array>
#include <limits>

#include "base/parallel.h"
#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/dnnl/dnnl_util.h"
#include "engine/tactics/tactic_list.h"
#include "ops/node_facts.h"

namespace assay::engine::tactic_dnnl_pool {
namespace {

using Pool = dnnl::pooling_v2_forward;

/// ReduceMean, too: over the whole image of every channel.
bool serves(const OpFacts& facts) {
  return facts.pool != PoolFact::kNone || facts.reduction.kernel == kernels::Reduction::kMean;
}

/// Numbers that an average adds up at most: oneDNN adds them one after the other, and of a flat image all
/// roundings have one sign. The error of so many is 2^-14 of the mean at worst.
constexpr int64_t kMaxTaps = 1024;

bool is_max(const Problem& p) { return facts_of(p.node(), p.model()).pool == PoolFact::kLargest; }

bool counts_padding(const Problem& p) {
  return p.node().op_type == "AveragePool" && p.attributes().attr_int("count_include_pad", 0) != 0;
}

std::string supports(const Problem& p) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (out->numel() == 0) return "the result is empty";
  if (!reduces_images(p)) return "what is reduced is not the whole image of every channel";
  if (p.output_count() > 1 && p.node().output(1) != nullptr) return "the indices of the maxima are wanted";
  const kernels::Window w = pooled_window(p);
  if (!is_max(p) && w.taps() > kMaxTaps)
    return fmt::format("it would add up {} numbers one after the other", w.taps());
  for (size_t a = 0; a < w.rank(); ++a) {
    // Padding that no window is allowed to lie in whole, and windows that reach past it.
    if (w.begin[a] >= w.reach(a) || w.end[a] >= w.reach(a)) return "the padding is as wide as the window";
    const int64_t overhang = (w.out[a] - 1) * w.strides[a] + w.reach(a) - w.begin[a] - w.in[a] - w.end[a];
    if ((w.out[a] - 1) * w.strides[a] - w.begin[a] >= w.in[a]) return "a window lies behind the image";
    if (overhang > 0 && counts_padding(p)) return "a window reaches past the padding that is to be counted";
  }
  return {};
}

/// Images and channels are pooled each on its own.
std::vector<Box> parts_of(const Shape& out, Layout layout, int64_t threads) {
  return channel_parts(out, layout, threads);
}

/// What a part of the result is computed from.
Box input_part(const Shape& in, const Box& part) {
  Box box = whole_box(in);
  for (const size_t d : {0, 1}) {
    box.begin[d] = part.begin[d];
    box.size[d] = part.size[d];
  }
  return box;
}

enum class PoolWay : uint8_t { kMax, kAverage, kAverageWithPads };
constexpr std::string_view kPoolWays[] = {"max", "average", "average_with_pads"};

struct StepFields {
  PoolWay kind = PoolWay::kMax;
  std::vector<int64_t> kernel = {};
  DnnlWindowFields window = {};

  void fields(FieldVisitor& visit) {
    visit("kind", kind, kPoolWays, "it pools by '{}'");
    visit("kernel", kernel, window.axes, {1, kMaxOfWindow});
    window.fields(visit);
  }
};

/// Everything that oneDNN needs to know, from a problem or from a step.
struct PoolShape {
  Shape in, out;
  StepFields p;
};

Pool::primitive_desc describe(const PoolShape& s, Layout layout, const Box& part) {
  const DnnlWindowFields& w = s.p.window;
  const auto algorithm = s.p.kind == PoolWay::kMax ? dnnl::algorithm::pooling_max
                         : s.p.kind == PoolWay::kAverageWithPads
                             ? dnnl::algorithm::pooling_avg_include_padding
                             : dnnl::algorithm::pooling_avg_exclude_padding;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  return {Pool::desc(dnnl::prop_kind::forward_inference, algorithm,
                     part_desc(s.in, layout, input_part(s.in, part)), part_desc(s.out, layout, part),
                     to_dnnl(w.strides), to_dnnl(s.p.kernel), to_dnnl(w.dilations), to_dnnl(w.begin),
                     to_dnnl(w.end)),
          attributes, dnnl_engine()};
}

PoolShape shape_of(const Problem& p) {
  const kernels::Window w = pooled_window(p);
  PoolShape s{.in = *p.input_shape(0),
              .out = *p.output_shape(0),
              .p = {.kind = is_max(p)           ? PoolWay::kMax
                            : counts_padding(p) ? PoolWay::kAverageWithPads
                                                : PoolWay::kAverage,
                    .kernel = w.kernel,
                    .window = {.strides = w.strides, .begin = w.begin}}};
  for (size_t a = 0; a < w.rank(); ++a) {
    s.p.window.dilations.push_back(w.dilations[a] - 1);
    // oneDNN derives the output from the padding; a window that ends early leaves some of it unused.
    s.p.window.end.push_back((w.out[a] - 1) * w.strides[a] + w.reach(a) - w.begin[a] - w.in[a]);
  }
  return s;
}

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

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const PoolShape s = shape_of(p);
  return add_image_candidates(
      p, s.p, [&](Layout layout) { return parts_of(s.out, layout, p.config().threads); },
      [&](Layout layout, const Box& part) { return describe(s, layout, part); },
      static_cast<double>(s.out.numel() * Shape(s.p.kernel).numel()),
      [](Layout layout, std::string_view implementation) {
        // Plain loops where oneDNN has no code for the instruction set: row-major images on AVX2.
        if (!implementation.starts_with("jit")) return 0.008;
        return layout.is_blocked() ? 0.2 : 0.1;
      },
      proposals);
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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
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

constinit const TacticDef def = {
    .name = "dnnl_pool",
    .summary = "oneDNN's pooling",
    .version = 3,
    .serves = serves,
    .propose = propose,
    .factory = {.create = dnnl_kernel<create>},
};

}  // namespace assay::engine::tactic_dnnl_pool
