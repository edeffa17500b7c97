// The C++ forms, which use only the public headers.
#include <fmt/format.h>

#include "cli/gen_script/build_command.h"
#include "cli/gen_script/cpp_literal.h"
#include "cli/script_text.h"

namespace assay::cli {
namespace {

/// `source` is the path of the file that is written.
std::string head(const char* what, const std::string& command, const std::string& source,
                 const std::vector<std::string>& headers) {
  std::string text =
      fmt::format("// {}\n// Made by: {}\n//\n{}", what, in_one_line(command), build_command(source));
  for (const std::string& header : headers) text += fmt::format("#include <{}>\n", header);
  return text + "\n#include <cstdio>\n#include <memory>\n#include <string>\n#include <vector>\n\n";
}

/// Statements that make `model`, indented by two.
std::string load_statements(const ScriptModel& m) {
  std::string options;
  if (!m.import.external_data_dir.empty())
    options += ".external_data_dir = " + cpp_string(m.import.external_data_dir);
  if (m.import.ignore_external_data)
    options += std::string(options.empty() ? "" : ", ") + ".ignore_external_data = true";
  std::string text = fmt::format("  std::shared_ptr<Model> model = load_model({}{});\n", cpp_string(m.path),
                                 options.empty() ? "" : ", {" + options + "}");
  const auto change = [&](const std::string& loader) {
    text += fmt::format("  model = poly::{}();\n", loader);
  };
  if (m.infer_shapes) change("InferShapes(model)");
  const auto names = [](const std::vector<std::string>& list) {
    return fmt::format("std::vector<std::string>{{{}}}", cpp_strings(list));
  };
  std::string outputs;
  const auto say = [&](const std::string& member) { outputs += (outputs.empty() ? "" : ", ") + member; };
  if (m.mark_all) say(".mark_all = true");
  if (m.outputs) say(".outputs = " + names(*m.outputs));
  if (m.exclude_outputs) say(".exclude_outputs = " + names(*m.exclude_outputs));
  if (!outputs.empty()) change(fmt::format("ModifyOutputs(model, {{{}}})", outputs));
  if (m.convert_to_fp16) change("ConvertToFp16(model)");
  return text;
}

/// main() that runs the body and prints what an Error says.
std::string main_text(const std::string& body) {
  return fmt::format(
      "int main() try {{\n"
      "  using namespace assay;\n"
      "{}"
      "  return 0;\n"
      "}} catch (const assay::Error& e) {{\n"
      "  std::fprintf(stderr, \"%s\\n\", e.what());\n"
      "  return 1;\n"
      "}}\n",
      body);
}

constexpr const char* kPrintSession =
    "  for (const TensorInfo& input : session->inputs())\n"
    "    std::printf(\"input %s: %s\\n\", input.name.c_str(), input.type.str().c_str());\n"
    "  for (const TensorInfo& output : session->outputs())\n"
    "    std::printf(\"output %s: %s\\n\", output.name.c_str(), output.type.str().c_str());\n";

}  // namespace

std::string onnx_gs_cpp(const ScriptModel& model, const std::string& saved_path, const std::string& command,
                        const std::string& source) {
  return head("Edits an ONNX model.", command, source,
              {"assay/edit.h", "assay/error.h", "assay/io.h", "assay/loaders.h"}) +
         main_text(
             load_statements(model) +
             fmt::format(
                 "  Graph& graph = *model->graph;\n"
                 "\n"
                 "  // What the model takes and gives can be set:\n"
                 "  //   graph.inputs = {{...}};\n"
                 "  //   graph.outputs = {{graph.find_value(\"name\")}};\n"
                 "  // New layers:\n"
                 "  //   layer(graph, \"Relu\", {{graph.outputs[0]}}, {{\"relu\"}});\n"
                 "  for (const auto& node : graph.nodes()) std::printf(\"%s\\n\", node->label().c_str());\n"
                 "\n"
                 "  // Removes what nothing needs any more and puts the nodes into order.\n"
                 "  cleanup(*model);\n"
                 "  toposort(*model);\n"
                 "  save_model(*model, {});\n",
                 cpp_string(saved_path)));
}

std::string trt_network_cpp(const ScriptModel& model, const std::string& command, const std::string& source) {
  std::string body;
  if (!model.path.empty()) {
    body = load_statements(model) +
           "  // Add to the network here, for example:\n"
           "  //   Graph& graph = *model->graph;\n"
           "  //   graph.outputs = layer(graph, \"Relu\", {graph.outputs[0]}, {\"relu\"});\n";
  } else {
    body =
        "  const auto model = std::make_shared<Model>();\n"
        "  model->opsets = {{\"\", 18}};\n"
        "  Graph& graph = *model->graph;\n"
        "  // Make the network here. This one adds 1 to what it gets.\n"
        "  Value* x = graph.add_input(\"x\", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(4)}));\n"
        "  graph.outputs = layer(graph, \"Add\", {x, 1.0}, {\"y\"});\n";
  }
  body +=
      "\n"
      "  const std::unique_ptr<Session> session = "
      "built_in_backends().get(\"engine\").open({poly::InferShapes(model)(), {}}, "
      "{});\n";
  return head("Makes a network and plans it on the engine.", command, source,
              {"assay/backend_set.h", "assay/edit.h", "assay/error.h", "assay/io.h", "assay/loaders.h"}) +
         main_text(body + kPrintSession);
}

std::string trt_config_cpp(const ScriptModel& model, const std::string& command, const std::string& source) {
  std::string body =
      "  SessionOptions options;\n"
      "  options.threads = 0;      // all that this process may use\n"
      "  options.optimize = true;  // false: only the passes that the engine cannot do without\n";
  if (model.path.empty())
    body +=
        "  std::printf(\"%d thread(s), %s\\n\", options.threads, options.optimize ? \"optimised\" : \"as it "
        "is\");\n";
  else
    body += "\n" + load_statements(model) +
            "  const std::unique_ptr<Session> session =\n"
            "      built_in_backends().get(\"engine\").open({poly::InferShapes(model)(), {}}, options);\n" +
            kPrintSession;
  return head("Sets up the engine.", command, source,
              {"assay/backend_set.h", "assay/error.h", "assay/io.h", "assay/loaders.h"}) +
         main_text(body);
}

}  // namespace assay::cli
