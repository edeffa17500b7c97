// Regions that ONNX has an operator for become it; fuse_layer_norm and its like have found them. For models
// that are saved: they may hold no region.
#include "analysis/extents.h"
#include "analysis/match.h"
#include "assay/edit.h"
#include "passes/pass_list.h"
#include "passes/region.h"

namespace assay::pass_regions_to_operators {
namespace {

/// Turns the region into a node of the operator, with its first `inputs` inputs.
void become(Node& n, std::string_view op_type, size_t inputs, const AttributeList& attributes) {
  std::vector<Value*> kept(n.inputs().begin(), n.inputs().begin() + static_cast<std::ptrdiff_t>(inputs));
  n.op_type = op_type;
  n.domain.clear();
  n.attributes.clear();
  for (const auto& [name, data] : attributes) n.set_attribute(name, data);
  n.set_inputs(std::move(kept));
}

/// The operator asks for a scale even where the formula has none.
void become_layer_norm(Node& n) {
  const int64_t axes = int_attribute(n, "axes", 1);
  const auto epsilon = static_cast<float>(float_attribute(n, "epsilon", 0));
  const bool has_scale = int_attribute(n, "has_scale", 0) != 0,
             has_shift = int_attribute(n, "has_shift", 0) != 0;
  Value *x = n.input(0), *shift = has_shift ? n.input(has_scale ? 2 : 1) : nullptr, *scale = n.input(1);
  if (!has_scale) {
    const Dims& dims = *dims_of(x);
    Tensor ones = Tensor::allocate(DType::kFloat32, *known_shape(Dims(dims.end() - axes, dims.end())));
    for (float& one : ones.mutable_span<float>()) one = 1;
    Graph& g = n.graph();
    scale = g.add_constant(g.unique_name(n.output(0)->name() + "/scale"), std::move(ones));
  }
  become(n, "LayerNormalization", 0, {{"axis", -axes}, {"epsilon", epsilon}});
  n.set_inputs(shift != nullptr ? std::vector{x, scale, shift} : std::vector{x, scale});
}

bool run(Model& model) {
  std::vector<Graph*> graphs = subgraphs(*model.graph, /*recursive=*/true);
  graphs.push_back(model.graph.get());
  bool changed = false;
  for (Graph* g : graphs)
    for (const auto& n : g->nodes()) {
      if (is_region(*n, kLayerNorm))
        become_layer_norm(*n);
      else if (is_region(*n, kRmsNorm))
        become(*n, "RMSNormalization", 2,
               {{"axis", -int_attribute(*n, "axes", 1)},
                {"epsilon", static_cast<float>(float_attribute(*n, "epsilon", 0))}});
      else if (is_region(*n, kGelu))
        become(*n, "Gelu", 1, {});
      else if (is_region(*n, kGeluTanh))
        become(*n, "Gelu", 1, {{"approximate", std::string("tanh")}});
      else if (is_region(*n, kHardSwish))
        become(*n, "HardSwish", 1, {});
      else if (is_region(*n, kMish))
        become(*n, "Mish", 1, {});
      else if (is_region(*n, kSilu))
        become(*n, "Swish", 1, {});
      else
        continue;
      changed = true;
    }
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "regions_to_operators",
    .summary = "formulas that ONNX has an operator for become that operator",
    .conditions = "Behind the fuse_ passes, in models whose opset has the operator.",
    .run = run,
};

}  // namespace assay::pass_regions_to_operators
