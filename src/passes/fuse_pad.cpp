// Zero padding before a convolution becomes its own padding.
#include <algorithm>

#include "passes/match.h"
#include "passes/pass_list.h"

namespace assay {
namespace {

/// The pads of a Pad node that only adds zeros around the spatial axes: begins, then ends.
std::optional<std::vector<int64_t>> zero_pads(const Node& n) {
  if (string_attribute(n, "mode", "constant") != "constant" || n.input(3) != nullptr) return std::nullopt;
  if (float_attribute(n, "value", 0) != 0) return std::nullopt;
  if (n.input(2) != nullptr) {
    const std::optional<double> value = scalar_of(n.input(2));
    if (!value || *value != 0) return std::nullopt;
  }
  const std::optional<std::vector<int64_t>> pads = ints_parameter(n, "pads", 1);
  if (!pads || pads->size() < 6 || pads->size() % 2 != 0) return std::nullopt;
  const size_t rank = pads->size() / 2;
  const bool spatial = (*pads)[0] == 0 && (*pads)[1] == 0 && (*pads)[rank] == 0 && (*pads)[rank + 1] == 0 &&
                       std::all_of(pads->begin(), pads->end(), [](int64_t p) { return p >= 0; });
  return spatial ? pads : std::nullopt;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Conv")) return std::nullopt;
  const Node* pad = producer_of(n.input(0), "Pad");
  if (pad == nullptr || context.sole_consumer(n.input(0)) != &n) return std::nullopt;
  const std::string_view auto_pad = string_attribute(n, "auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return std::nullopt;
  const std::optional<std::vector<int64_t>> added = zero_pads(*pad);
  if (!added) return std::nullopt;
  const size_t axes = added->size() / 2 - 2;
  std::vector<int64_t> pads = auto_pad == "VALID" ? std::vector<int64_t>() : ints_attribute(n, "pads");
  if (pads.empty()) pads.resize(2 * axes);
  if (pads.size() != 2 * axes) return std::nullopt;
  for (size_t a = 0; a < axes; ++a) {
    pads[a] += (*added)[a + 2];
    pads[axes + a] += (*added)[axes + 2 + a + 2];
  }
  AttributeList attributes;
  for (const Attribute& a : n.attributes)
    if (a.name != "pads" && a.name != "auto_pad") attributes.emplace_back(a.name, a.data);
  attributes.emplace_back("pads", pads);
  Patch patch(n);
  patch.remove(*pad);
  patch.remove(n);
  patch.set_name(n.name);
  std::vector<Patch::Ref> inputs = {pad->input(0)};
  for (size_t i = 1; i < n.inputs().size(); ++i) inputs.emplace_back(n.input(i));
  patch.add("Conv", std::move(inputs), std::move(attributes), n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef pass_fuse_pad = {
    .name = "fuse_pad",
    .summary = "zero padding before a convolution becomes its own padding",
    .match = match,
};

}  // namespace assay
