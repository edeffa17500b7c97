// The Python forms, which use Polygraphy and ONNX-GraphSurgeon.
#include <fmt/format.h>

#include "base/python_repr.h"
#include "cli/script_text.h"

namespace assay::cli {
namespace {

std::string head(const char* what, const std::string& command) {
  return fmt::format("#!/usr/bin/env python3\n# {}\n# Made by: {}\n", what, in_one_line(command));
}

/// Imports from polygraphy.backend.onnx, and assignments, each of which wraps the one before.
struct LoaderChain {
  std::vector<std::string> imports, lines;
  std::string last;  ///< the name of the last loader

  void add(const std::string& loader, const std::string& name, const std::string& arguments) {
    imports.push_back(loader);
    lines.push_back(fmt::format("{} = {}({})", name, loader, arguments));
    last = name;
  }
};

LoaderChain onnx_loaders(const ScriptModel& m) {
  LoaderChain chain;
  std::string arguments = python_str_repr(m.path);
  if (!m.import.external_data_dir.empty())
    arguments += ", external_data_dir=" + python_str_repr(m.import.external_data_dir);
  if (m.import.ignore_external_data) arguments += ", ignore_external_data=True";
  chain.add("OnnxFromPath", "load_onnx", arguments);
  if (m.infer_shapes) chain.add("InferShapes", "infer_shapes", chain.last);
  if (m.mark_all || m.outputs || m.exclude_outputs) {
    arguments = chain.last;
    if (m.mark_all) arguments += ", outputs=constants.MARK_ALL";
    if (m.outputs) arguments += ", outputs=" + python_list_repr(*m.outputs);
    if (m.exclude_outputs) arguments += ", exclude_outputs=" + python_list_repr(*m.exclude_outputs);
    chain.add("ModifyOutputs", "modify_outputs", arguments);
  }
  if (m.convert_to_fp16) chain.add("ConvertToFp16", "convert_to_fp16", chain.last);
  return chain;
}

std::string joined(const std::vector<std::string>& list, const char* separator) {
  return fmt::format("{}", fmt::join(list, separator));
}

}  // namespace

std::string onnx_gs_python(const ScriptModel& model, const std::string& saved_path,
                           const std::string& command) {
  LoaderChain chain = onnx_loaders(model);
  chain.add("GsFromOnnx", "load_graph", chain.last);
  return head("Edits an ONNX model with ONNX-GraphSurgeon.", command) +
         fmt::format(
             "import onnx\n"
             "import onnx_graphsurgeon as gs\n"
             "{0}"
             "from polygraphy.backend.onnx import {1}\n"
             "\n"
             "{2}\n"
             "\n"
             "graph = load_graph()\n"
             "\n"
             "# What the model takes and gives can be set:\n"
             "#     graph.inputs = [...]\n"
             "#     graph.outputs = [...]\n"
             "#\n"
             "# Every tensor by its name:\n"
             "#     tensors = graph.tensors()\n"
             "#\n"
             "# Every node:\n"
             "#     for node in graph.nodes:\n"
             "#         print(node.name, node.op, node.attrs, node.inputs, node.outputs)\n"
             "#\n"
             "# After changes, remove what nothing needs any more and put the nodes into order:\n"
             "#     graph.cleanup().toposort()\n"
             "\n"
             "onnx.save(gs.export_onnx(graph), {3})\n",
             model.mark_all ? "from polygraphy import constants\n" : "", joined(chain.imports, ", "),
             joined(chain.lines, "\n"), python_str_repr(saved_path));
}

std::string trt_network_python(const ScriptModel& model, const std::vector<std::string>& arguments,
                               const std::string& command) {
  std::string imports, lines, loader, parameters = "builder, network, parser";
  std::vector<std::string> all = arguments;
  if (model.path.empty()) {
    imports = "from polygraphy.backend.trt import CreateNetwork\n";
    lines = fmt::format("create_network = CreateNetwork({})\n", joined(all, ", "));
    loader = "create_network";
    parameters = "builder, network";
  } else if (model.is_unchanged()) {
    all.insert(all.begin(), python_str_repr(model.path));
    imports = "from polygraphy.backend.trt import NetworkFromOnnxPath\n";
    lines = fmt::format("parse_network = NetworkFromOnnxPath({})\n", joined(all, ", "));
    loader = "parse_network";
  } else {
    LoaderChain chain = onnx_loaders(model);
    chain.add("BytesFromOnnx", "serialize_onnx", chain.last);
    all.insert(all.begin(), chain.last);
    imports = fmt::format(
        "{}from polygraphy.backend.onnx import {}\nfrom polygraphy.backend.trt import NetworkFromOnnxBytes\n",
        model.mark_all ? "from polygraphy import constants\n" : "", joined(chain.imports, ", "));
    lines = fmt::format("{}\nparse_network = NetworkFromOnnxBytes({})\n", joined(chain.lines, "\n"),
                        joined(all, ", "));
    loader = "parse_network";
  }
  return head("Makes a TensorRT network; load it as a model of type trt-network-script.", command) +
         fmt::format(
             "import tensorrt as trt\n"
             "from polygraphy import func\n"
             "{0}\n"
             "{1}\n"
             "\n"
             "@func.extend({2})\n"
             "def load_network({3}):\n"
             "    # Add to the network here, and mark its outputs; what this returns is not used. For "
             "example:\n"
             "    #     layer = network.add_identity(network.get_input(0))\n"
             "    #     network.mark_output(layer.get_output(0))\n"
             "    pass\n",
             imports, lines, loader, parameters);
}

std::string trt_config_python(const ScriptConfig& config, const std::string& command) {
  std::string profiles, arguments;
  for (const auto& profile : config.profiles) {
    profiles += "    Profile()";
    for (const auto& input : profile)
      profiles += fmt::format(".add({}, min={}, opt={}, max={})", input[0], input[1], input[2], input[3]);
    profiles += ",\n";
  }
  if (!profiles.empty()) {
    profiles = "profiles = [\n" + profiles + "]\n";
    arguments = "profiles=profiles";
  }
  for (const auto& [name, value] : config.arguments)
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, value);
  return head("Sets up TensorRT's builder; use it with --trt-config-script.", command) +
         fmt::format(
             "import tensorrt as trt\n"
             "from polygraphy import func\n"
             "from polygraphy.backend.trt import CreateConfig{0}\n"
             "\n"
             "{1}"
             "create_config = CreateConfig({2})\n"
             "\n"
             "\n"
             "@func.extend(create_config)\n"
             "def load_config(builder, network, config):\n"
             "    # Change the configuration here; what this returns is not used. For example:\n"
             "    #     config.set_flag(trt.BuilderFlag.DEBUG)\n"
             "    pass\n",
             profiles.empty() ? "" : ", Profile", profiles, arguments);
}

}  // namespace assay::cli
