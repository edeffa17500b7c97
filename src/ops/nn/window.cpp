#include "ops/nn/window.h"

#include "ops/infer_util.h"

namespace assay {
namespace {

using AutoPad = WindowAttributes::AutoPad;

/// Keeps every product and sum of two such numbers within 64 bits.
constexpr int64_t kLargest = INT32_MAX;

Dim plus(const Dim& d, int64_t offset) {
  return offset < 0 ? dim_sub(d, Dim(-offset)) : dim_add(d, Dim(offset));
}

}  // namespace

bool knows_attr(const OpContext& c, std::string_view name) {
  return schema_of(c.version()).attribute(name) != nullptr;
}

std::vector<int64_t> window_ints(const OpContext& c, std::string_view name, size_t count, int64_t otherwise,
                                 int64_t lowest) {
  std::vector<int64_t> v = knows_attr(c, name) ? c.attr_ints(name) : std::vector<int64_t>();
  if (v.empty()) return std::vector<int64_t>(count, otherwise);
  c.check(v.size() == count, "attribute '{}' has {} numbers where the input needs {}", name, v.size(), count);
  for (const int64_t x : v)
    c.check(x >= lowest && x <= kLargest, "attribute '{}' has {}, which is not in [{}, {}]", name, x, lowest,
            kLargest);
  return v;
}

AutoPad read_auto_pad(const OpContext& c) {
  const std::string name = knows_attr(c, "auto_pad") ? c.attr_string("auto_pad") : "NOTSET";
  if (name == "NOTSET" || name.empty()) return AutoPad::kNotSet;
  if (name == "VALID") return AutoPad::kValid;
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  c.check(name == "SAME_LOWER", "auto_pad '{}' is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER", name);
  return AutoPad::kSameLower;
}

WindowAttributes read_window(const OpContext& c, size_t rank, std::vector<int64_t> kernel) {
  c.check(rank >= 1, "the input needs at least one spatial axis after batch and channels");
  WindowAttributes w;
  if (c.has_attr("kernel_shape")) {
    c.check(rank == 0 || !kernel.empty() || !c.attr_ints("kernel_shape").empty(),
            "attribute 'kernel_shape' has no numbers where the input needs {}", rank);
    w.kernel = window_ints(c, "kernel_shape", rank, 1, 1);
    c.check(kernel.empty() || kernel == w.kernel, "kernel_shape {} differs from the {} of the weights",
            Shape(w.kernel).str(), Shape(kernel).str());
  } else {
    w.kernel = std::move(kernel);
  }
  for (const int64_t k : w.kernel) c.check(k >= 1 && k <= kLargest, "the kernel has an extent of {}", k);
  w.strides = window_ints(c, "strides", rank, 1, 1);
  w.dilations = window_ints(c, "dilations", rank, 1, 1);
  w.auto_pad = read_auto_pad(c);
  w.ceil_mode = knows_attr(c, "ceil_mode") && c.attr_int("ceil_mode") != 0;
  w.begin.assign(rank, 0);
  w.end.assign(rank, 0);
  if (w.auto_pad == AutoPad::kNotSet) {
    const std::vector<int64_t> pads = window_ints(c, "pads", 2 * rank, 0, 0);
    w.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    w.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  }
  return w;
}

Dim WindowAttributes::output_extent(size_t i, const Dim& in) const {
  const int64_t stride = strides[i];
  if (auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower)
    return dim_floor_div(plus(in, stride - 1), Dim(stride));
  if (kernel.empty()) return {};
  const int64_t reach = (kernel[i] - 1) * dilations[i] + 1, slack = begin[i] + end[i] - reach;
  // With ceil_mode and VALID the specification's formula is that of floor mode.
  const bool round_up = ceil_mode && auto_pad == AutoPad::kNotSet;
  const int64_t rest = slack + (round_up ? 2 * stride - 1 : stride);
  if (!in.is_known()) {
    // A last window that starts in the padding after the input is dropped; it cannot occur when the window is
    // long enough.
    return round_up && end[i] + stride > reach ? Dim() : dim_floor_div(plus(in, rest), Dim(stride));
  }
  require(in.value() + rest >= stride, ErrorCode::kInvalidModel,
          "a window that spans {} does not fit in an extent of {} with padding {} and {}", reach, in.value(),
          begin[i], end[i]);
  const int64_t out = (in.value() + rest) / stride;
  return round_up && (out - 1) * stride >= in.value() + begin[i] ? Dim(out - 1) : Dim(out);
}

Dims WindowAttributes::output_extents(const Dims& in) const {
  Dims out;
  for (size_t i = 0; i < in.size(); ++i) out.push_back(output_extent(i, in[i]));
  return out;
}

kernels::Window WindowAttributes::over(const Shape& spatial) const {
  kernels::Window w;
  w.kernel = kernel;
  w.strides = strides;
  w.dilations = dilations;
  w.begin = begin;
  w.end = end;
  w.in = spatial.dims();
  for (size_t i = 0; i < spatial.size(); ++i) {
    w.out.push_back(output_extent(i, Dim(spatial[i])).value());
    if (auto_pad != AutoPad::kSameUpper && auto_pad != AutoPad::kSameLower) continue;
    const int64_t total = std::max<int64_t>(0, (w.out[i] - 1) * strides[i] + w.reach(i) - spatial[i]);
    w.begin[i] = auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    w.end[i] = total - w.begin[i];
  }
  return w;
}

std::vector<int64_t> known_kernel(const Dims& weights) {
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < weights.size(); ++i) {
    if (!weights[i].is_known()) return {};
    kernel.push_back(weights[i].value());
  }
  return kernel;
}

Dims spatial_dims(const Dims& dims) { return dims.size() < 2 ? Dims() : Dims(dims.begin() + 2, dims.end()); }

Shape spatial_shape(const Shape& shape) {
  return shape.size() < 2 ? Shape() : Shape(shape.begin() + 2, shape.end());
}

}  // namespace assay
