// Models and data of the programs that compare backends.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "graph/import.h"
#include "ops/infer.h"
#include "templates/template_set.h"
#include "tensor/convert.h"
#include "transform/randomize_weights.h"

namespace assay {

/// A file (weights that are constant are randomized) or the name of a template, with all shapes inferred.
inline std::shared_ptr<Model> load_named_model(const std::string& name) {
  std::shared_ptr<Model> model;
  if (std::filesystem::exists(name)) {
    model = load_model(name);
    randomize_weights(*model, 1);
  } else {
    model = build_template(find_template(name));
  }
  infer_shapes(*model);
  return model;
}

/// Uniform numbers in [0, 1), or 0 and 1 for integers; the same for every backend. Symbolic extents become 1.
inline std::vector<Tensor> make_feed(const Model& model) {
  std::vector<Tensor> feed;
  uint64_t state = 1;
  for (const Value* v : model.graph->inputs) {
    Shape shape;
    for (const Dim& d : *v->type.dims) shape.push_back(d.is_known() ? d.value() : 1);
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    for (float& x : t.mutable_span<float>()) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = static_cast<float>(state >> 40) * 0x1p-24F;
      if (is_integer(v->type.dtype)) x = x < 0.5F ? 0 : 1;
    }
    feed.push_back(convert(t, v->type.dtype));
  }
  return feed;
}

}  // namespace assay
