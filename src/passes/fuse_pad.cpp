// Padding before a convolution or a pool becomes its own padding: zeros before a convolution, zeros that an
// average counts, and before a maximum what can never win.
#include <algorithm>
#include <cmath>

#include "analysis/channel_constants.h"
#include "analysis/clip_bounds.h"
#include "analysis/extents.h"
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_fuse_pad {
namespace {

/// The number that a Pad node pads with.
std::optional<double> pad_value(const Node& n) {
  if (string_attribute(n, "mode", "constant") != "constant") return std::nullopt;
  return n.input(2) != nullptr ? scalar_of(n.input(2)) : float_attribute(n, "value", 0);
}

/// The pads of a Pad node that only adds around the spatial axes: begins, then ends.
std::optional<std::vector<int64_t>> spatial_pads(const Node& n) {
  if (n.input(3) != nullptr) return std::nullopt;
  const std::optional<std::vector<int64_t>> pads = ints_parameter(n, "pads", 1);
  if (!pads || pads->size() < 6 || pads->size() % 2 != 0) return std::nullopt;
  const size_t rank = pads->size() / 2;
  const bool spatial = (*pads)[0] == 0 && (*pads)[1] == 0 && (*pads)[rank] == 0 && (*pads)[rank + 1] == 0 &&
                       std::all_of(pads->begin(), pads->end(), [](int64_t p) { return p >= 0; });
  return spatial ? pads : std::nullopt;
}

bool is_non_negative(const Value* v, const Model& model) {
  const Node* n = v != nullptr ? v->producer() : nullptr;
  return n != nullptr && &n->graph() == &v->graph() && gives_no_negative(*n, model);
}

/// Whether a product of the weights with zeros is 0, as which a convolution takes its own padding.
bool are_finite_weights(const Value* v) {
  if (const Node* levels = producer_of(v, "DequantizeLinear")) {
    const UnalignedTensor* scale = data_of(levels->input(1));
    if (scale == nullptr || data_of(levels->input(0)) == nullptr) return false;
    const std::vector<double> scales = to_doubles(*scale);
    return std::all_of(scales.begin(), scales.end(), [](double s) { return std::isfinite(s * 0x1p16); });
  }
  const UnalignedTensor* t = constant_of(v);
  return t != nullptr && is_float(t->dtype()) && all_finite(*t);
}

/// Whether every window has an element of the image: it may skip what is narrower than its dilation.
bool windows_meet_image(const Node& n, const Value* image, const std::vector<int64_t>& pads) {
  const std::vector<int64_t> kernel = ints_attribute(n, "kernel_shape");
  std::vector<int64_t> dilations = ints_attribute(n, "dilations");
  const Dims* dims = dims_of(image);
  if (kernel.size() * 2 != pads.size()) return false;
  if (dilations.empty()) dilations.assign(kernel.size(), 1);
  if (dilations.size() != kernel.size()) return false;
  for (size_t a = 0; a < kernel.size(); ++a) {
    const int64_t reach = (kernel[a] - 1) * dilations[a] + 1;
    if (pads[a] >= reach || pads[kernel.size() + a] >= reach) return false;
    if (dilations[a] == 1) continue;
    if (dims == nullptr || dims->size() != kernel.size() + 2) return false;
    if (const Dim& d = (*dims)[a + 2]; !d.is_known() || d.value() < dilations[a]) return false;
  }
  return true;
}

/// Whether the node treats its own padding as `pad` does; `pads` are those that it would have.
bool takes_padding(const Node& n, const Node& pad, const std::vector<int64_t>& own,
                   const std::vector<int64_t>& pads, const Model& model) {
  const std::optional<double> value = pad_value(pad);
  if (!value) return false;
  if (is_op(n, "Conv")) return *value == 0 && are_finite_weights(n.input(1));
  if (int_attribute(n, "ceil_mode", 0) != 0 || !windows_meet_image(n, pad.input(0), pads)) return false;
  if (is_op(n, "AveragePool"))
    return *value == 0 && (int_attribute(n, "count_include_pad", 0) != 0 ||
                           std::all_of(own.begin(), own.end(), [](int64_t p) { return p == 0; }));
  return n.output(1) == nullptr && is_float(dtype_of(n.input(0))) &&
         (*value == -INFINITY || (*value == 0 && is_non_negative(pad.input(0), model)));
}

bool may_pad(const Node& n, const Model& model) {
  return is_op(n, "Conv") || is_op(n, "MaxPool") || (is_op(n, "AveragePool") && model.opset() >= 7);
}

/// The node's own pads for as many spatial axes; nothing where they follow from the shapes.
std::optional<std::vector<int64_t>> own_pads(const Node& n, size_t axes) {
  const std::string_view auto_pad = string_attribute(n, "auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return std::nullopt;
  std::vector<int64_t> pads = auto_pad == "VALID" ? std::vector<int64_t>() : ints_attribute(n, "pads");
  if (pads.empty()) pads.resize(2 * axes);
  return pads.size() == 2 * axes ? std::optional(pads) : std::nullopt;
}

/// `added` are pads for the batch and the channels, too.
std::vector<int64_t> sum_of_pads(std::vector<int64_t> own, const std::vector<int64_t>& added) {
  const size_t axes = own.size() / 2;
  for (size_t a = 0; a < axes; ++a) {
    own[a] += added[a + 2];
    own[axes + a] += added[axes + 2 + a + 2];
  }
  return own;
}

AttributeList attributes_with(const Node& n, const std::vector<int64_t>& pads) {
  AttributeList attributes;
  for (const Attribute& a : n.attributes)
    if (a.name != "pads" && a.name != "auto_pad" && a.name != "count_include_pad")
      attributes.emplace_back(a.name, a.data);
  attributes.emplace_back("pads", pads);
  if (is_op(n, "AveragePool")) attributes.emplace_back("count_include_pad", int64_t{1});
  return attributes;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!may_pad(n, context.model)) return std::nullopt;
  const Node* pad = producer_of(n.input(0), "Pad");
  if (pad == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const std::optional<std::vector<int64_t>> added = spatial_pads(*pad);
  if (!added) return std::nullopt;
  const std::optional<std::vector<int64_t>> own = own_pads(n, added->size() / 2 - 2);
  if (!own) return std::nullopt;
  const std::vector<int64_t> pads = sum_of_pads(*own, *added);
  if (!takes_padding(n, *pad, *own, pads, context.model)) return std::nullopt;
  Patch patch(n);
  patch.remove(*pad);
  patch.remove(n);
  patch.set_name(n.name);
  std::vector<Patch::Ref> inputs = {pad->input(0)};
  for (size_t i = 1; i < n.inputs().size(); ++i) inputs.emplace_back(n.input(i));
  patch.add(n.op_type, std::move(inputs), attributes_with(n, pads), n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_pad",
    .summary = "padding before a convolution or a pool becomes its own padding",
    .conditions =
        "Constant padding that is not negative, of spatial axes only, without the input 'axes', whose only "
        "use is the convolution or pool, which has auto_pad NOTSET or VALID. Conv: zeros, and weights that "
        "are constants without infinities and NaN. MaxPool of floats, without places: -infinity, or zeros "
        "behind Relu, Sigmoid or a Clip with constant bounds of at least 0. AveragePool from opset 7 on: "
        "zeros, with no padding of its own that it does not count. Pools: ceil_mode 0, and every window "
        "meets the image: no padding as wide as the dilated window, no axis narrower than a dilation above "
        "1.",
    .match = match,
};

}  // namespace assay::pass_fuse_pad
