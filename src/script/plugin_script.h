// The pattern.py of a plugin, which works on onnx_graphsurgeon's graphs in the user's Python.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "script/item.h"
#include "script/python_function.h"

namespace assay::script {

/// One match of the plugin, by names of tensors.
struct ScriptPluginInstance {
  std::vector<std::string> inputs, outputs;
  Item attributes;  ///< a dictionary of numbers, texts and lists
};

/// The matches of a pattern.py in a model; without instances the rest is empty.
struct ScriptPluginMatches {
  std::string name, op, domain;
  std::vector<ScriptPluginInstance> instances;
};

/// Its functions get_matching_subgraphs(graph), get_plugin_metadata() and, if it has that,
/// replace_with_plugin(). They throw Error (kInvalidArgument) that names file, function and line, and a
/// remedy where packages are missing.
class PluginScript {
 public:
  /// `path`: of the pattern.py. `interpreter`: find_interpreter().
  explicit PluginScript(const std::string& path, std::string interpreter = {});

  ScriptPluginMatches match(const Model& model);
  /// True when the plugin has its own replacement function.
  bool has_replacement();
  struct Replaced {
    std::shared_ptr<Model> model;
    int64_t count = 0;  ///< of instances
  };
  /// Calls it. `ops`: the operator set of the nodes.
  Replaced replace(const Model& model, const std::string& op,
                   const std::vector<ScriptPluginInstance>& instances, std::shared_ptr<const OpSet> ops);

 private:
  PythonFunction function_;
};

}  // namespace assay::script
