// Padding before a convolution or a pool becomes its own padding: zeros before a convolution, zeros that an
// average counts, and before a maximum what can never win.
#include <algorithm>
#include <cmath>

#include "passes/match.h"
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

/// A node whose results are at least 0.
bool is_non_negative(const Value* v) {
  if (producer_of(v, "Relu") != nullptr || producer_of(v, "Sigmoid") != nullptr) return true;
  const Node* clip = producer_of(v, "Clip");
  if (clip == nullptr) return false;
  const std::optional<double> low = clip->input(1) != nullptr ? scalar_of(clip->input(1)) : std::nullopt;
  return low ? *low >= 0 : float_attribute(*clip, "min", -1) >= 0;
}

/// Whether the node treats its own padding as `pad` does; `pads` are those that it would have.
bool takes_padding(const Node& n, const Node& pad, const std::vector<int64_t>& own,
                   const std::vector<int64_t>& pads) {
  const std::optional<double> value = pad_value(pad);
  if (!value) return false;
  if (is_op(n, "Conv")) return *value == 0;
  // A window must hold something else than padding.
  const std::vector<int64_t> kernel = ints_attribute(n, "kernel_shape");
  if (int_attribute(n, "ceil_mode", 0) != 0 || kernel.size() * 2 != pads.size()) return false;
  for (size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= kernel[i % kernel.size()]) return false;
  if (is_op(n, "AveragePool"))
    return *value == 0 && (int_attribute(n, "count_include_pad", 0) != 0 ||
                           std::all_of(own.begin(), own.end(), [](int64_t p) { return p == 0; }));
  return n.output(1) == nullptr && is_float(dtype_of(n.input(0))) &&
         (*value == -INFINITY || (*value == 0 && is_non_negative(pad.input(0))));
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const bool averages = is_op(n, "AveragePool");
  if (!is_op(n, "Conv") && !is_op(n, "MaxPool") && !(averages && context.model.opset() >= 7))
    return std::nullopt;
  const Node* pad = producer_of(n.input(0), "Pad");
  if (pad == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const std::string_view auto_pad = string_attribute(n, "auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return std::nullopt;
  const std::optional<std::vector<int64_t>> added = spatial_pads(*pad);
  if (!added) return std::nullopt;
  const size_t axes = added->size() / 2 - 2;
  std::vector<int64_t> own = auto_pad == "VALID" ? std::vector<int64_t>() : ints_attribute(n, "pads");
  if (own.empty()) own.resize(2 * axes);
  if (own.size() != 2 * axes) return std::nullopt;
  std::vector<int64_t> pads = own;
  for (size_t a = 0; a < axes; ++a) {
    pads[a] += (*added)[a + 2];
    pads[axes + a] += (*added)[axes + 2 + a + 2];
  }
  if (!takes_padding(n, *pad, own, pads)) return std::nullopt;
  AttributeList attributes;
  for (const Attribute& a : n.attributes)
    if (a.name != "pads" && a.name != "auto_pad" && a.name != "count_include_pad")
      attributes.emplace_back(a.name, a.data);
  attributes.emplace_back("pads", pads);
  if (averages) attributes.emplace_back("count_include_pad", int64_t{1});
  Patch patch(n);
  patch.remove(*pad);
  patch.remove(n);
  patch.set_name(n.name);
  std::vector<Patch::Ref> inputs = {pad->input(0)};
  for (size_t i = 1; i < n.inputs().size(); ++i) inputs.emplace_back(n.input(i));
  patch.add(n.op_type, std::move(inputs), std::move(attributes), n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "fuse_pad",
    .summary = "padding before a convolution or a pool becomes its own padding",
    .match = match,
};

}  // namespace assay::pass_fuse_pad
