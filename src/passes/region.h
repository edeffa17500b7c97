// Regions: nodes that the engine runs as one. A region is a node of the
// private domain whose attribute `body` contains the original nodes, so that
// every region can be dissolved again and none needs its own evaluation.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "passes/patch.h"

namespace assay {

/// The domain of regions. It never leaves the engine.
inline constexpr std::string_view kRegionDomain = "assay";

/// Kinds of regions: the op_type of their nodes.
inline constexpr std::string_view kSilu = "Silu";
inline constexpr std::string_view kHardSwish = "HardSwish";
inline constexpr std::string_view kMish = "Mish";
inline constexpr std::string_view kGelu = "Gelu";
inline constexpr std::string_view kGeluTanh = "GeluTanh";
inline constexpr std::string_view kLayerNorm = "LayerNorm";
inline constexpr std::string_view kRmsNorm = "RmsNorm";
inline constexpr std::string_view kSoftmax = "Softmax";
/// A function of one tensor of 8 bits, element by element, that gives one of 8 bits.
inline constexpr std::string_view kLookup = "Lookup";

bool is_region(const Node& n);
bool is_region(const Node& n, std::string_view kind);

/// The nodes inside, in topological order; nested regions are not opened. body().inputs and outputs are
/// the formal values of the region's inputs and outputs, in order.
const Graph& body_of(const Node& region);
/// The region's input for a formal input; null when `v` is not one.
Value* actual_input(const Node& region, const Value* v);

/// A patch that replaces `nodes` (topological order, the last one the anchor) by a region. `first_inputs`:
/// values that become the first inputs, in this order; the rest follows in order of use. Constants of one
/// element go into the body. Values that are used outside or pinned become outputs, except those of `copied`,
/// nodes that stay in the graph as well.
Patch make_region(std::string_view kind, std::span<const Node* const> nodes, const PassContext& context,
                  std::span<Value* const> first_inputs = {}, AttributeList attributes = {},
                  std::span<const Node* const> copied = {});

/// Creates the body's nodes at the end of the graph, and returns them in order; the region is left without
/// inputs and outputs. The caller moves them to its place. Inner values get fresh names.
std::vector<Node*> dissolve_region(Node& region);

/// Replaces the main graph's regions, including nested
/// ones, for which `dissolves` is true by their nodes.
void dissolve_regions(Model& model, const std::function<bool(const Node&)>& dissolves);

}  // namespace assay
