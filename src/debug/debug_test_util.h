// For tests of this module: models as text, and what the reference gives for every tensor of them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "assay/io.h"
#include "base/temporary_folder.h"
#include "debug/layer_run.h"
#include "reference/reference_test_util.h"
#include "run/output_recorder.h"

namespace assay::debug {

/// The model that ONNX's text form says: inputs, outputs and nodes as `g (float[2] x) => (float[2] y) {...}`.
inline std::shared_ptr<Model> model_from(const std::string& graph) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.onnxtxt";
  std::ofstream(path) << "<ir_version: 8, opset_import: [\"\" : 17]>\n" << graph;
  std::shared_ptr<Model> model = load_model(path);
  infer_shapes(*model);
  return model;
}

/// Every tensor of a run of the reference in the model's types.
inline void run_reference(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                          LayerValues& values) {
  std::vector<const Value*> wanted;
  for (const Value* v : model->graph->inputs) wanted.push_back(v);
  for (const auto& n : model->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr) wanted.push_back(v);
  for (const auto& [name, lanes] : observe(model, feed, {.precision = ReferencePrecision::kStored}, wanted))
    values.put(name, lanes[0]);
}

inline std::vector<std::string> output_names(const Model& model) {
  std::vector<std::string> names;
  for (const Value* v : model.graph->outputs) names.push_back(v->name());
  return names;
}

}  // namespace assay::debug
