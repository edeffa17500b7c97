#include "script/network_script.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analysis/held_types.h"
#include "assay/error.h"
#include "assay/io.h"
#include "base/nameless_file.h"
#include "graph/clone.h"
#include "script/python_function.h"
#include "script/temporary_model.h"

namespace assay::script {
namespace {

void require_python(const Reference& reference) {
  require(reference.language == Language::kPython, ErrorCode::kUnsupported,
          "{} is no Python script, and networks and configurations are made by those alone; programs in C++ "
          "use assay/loaders.h",
          reference.path);
}

/// A path that another process of the user can open.
std::string path_of(const NamelessFile& file) { return fmt::format("/proc/{}/fd/{}", ::getpid(), file.fd()); }

/// Writes the script's requests for layers to their nodes, replacing earlier ones.
void hold_layers(Model& model, const Item& settings) {
  remove_held_types(model);
  std::unordered_map<std::string_view, Node*> nodes;
  for (const auto& n : model.graph->nodes()) {
    if (!n->name.empty()) nodes.emplace(n->name, n.get());
    for (const Value* v : n->outputs())
      if (v != nullptr && n->name.empty()) nodes.emplace(v->name(), n.get());
  }
  if (const Item* layers = settings.find("layer_precisions"))
    for (const auto& [layer, wish] : layers->dict())
      for (const Item& name : wish.at("nodes").list())
        if (const auto it = nodes.find(name.text()); it != nodes.end())
          set_held_type(*it->second, wish.at("dtype").text());
  const Item* outputs = settings.find("output_types");
  if (outputs == nullptr) return;
  for (const auto& [tensor, dtype] : outputs->dict()) {
    const Value* v = model.graph->find_value(tensor);
    if (v == nullptr || v->producer() == nullptr) continue;
    Node& n = *v->producer();
    std::vector<std::string> types = held_outputs(n);
    types.resize(n.outputs().size(), "-");
    const auto at = std::find(n.outputs().begin(), n.outputs().end(), v) - n.outputs().begin();
    types[static_cast<size_t>(at)] = dtype.text();
    set_held_outputs(n, types);
  }
}

/// Reads the script's output. Weights stay mapped when the file is removed.
RecordedNetwork recorded(const Reference& reference, const NamelessFile& file, const Item& answer) {
  RecordedNetwork network;
  network.model = with_context(
      [&] { return fmt::format("in the network of {}", reference.str()); },
      [&] {
        return load_model(path_of(file), {.external_data_dir = answer.at("external_data_dir").text()});
      });
  network.model->path.clear();
  hold_layers(*network.model, answer.at("settings"));
  if (const Item* unused = answer.at("settings").find("unused"))
    for (const Item& sentence : unused->list()) network.unused.push_back(sentence.text());
  return network;
}

}  // namespace

RecordedNetwork run_network_script(const Reference& reference, const std::string& interpreter) {
  require_python(reference);
  const NamelessFile file;
  PythonFunction function("network", reference, interpreter);
  return recorded(reference, file, function.call("build", {{"output", path_of(file)}}));
}

RecordedNetwork run_network_postprocess_script(const Reference& reference, const Model& network,
                                               const std::string& interpreter) {
  require_python(reference);
  const NamelessFile file;
  const TemporaryModel given(network);
  PythonFunction function("network", reference, interpreter);
  return recorded(reference, file,
                  function.call("postprocess", {{"network", given.path()}, {"output", path_of(file)}}));
}

Item run_config_script(const Reference& reference, const Model& network, const std::string& interpreter) {
  require_python(reference);
  const TemporaryModel given(network);
  PythonFunction function("network", reference, interpreter);
  return function.call("configure", {{"network", given.path()}});
}

Item run_config_postprocess_script(const Reference& reference, const Model& network, const Item& config,
                                   const std::string& interpreter) {
  require_python(reference);
  const TemporaryModel given(network);
  PythonFunction function("network", reference, interpreter);
  return function.call("postprocess_config", {{"network", given.path()}, {"config", config}});
}

}  // namespace assay::script
