// The C++ forms, which use this project's headers.
#include <fmt/format.h>

#include "cli/gen_script/cpp_literal.h"
#include "cli/script_text.h"

namespace assay::cli {
namespace {

std::string head(const char* what, const std::string& command, const std::vector<std::string>& headers) {
  std::string text = fmt::format(
      "// {}\n"
      "// Made by: {}\n"
      "// Compile it with -std=c++20 and the folders include and src of assay's source, and link its "
      "libraries\n"
      "// libassay_*.a; docs/compatibility.md shows the command.\n"
      "#include <cstdio>\n"
      "#include <memory>\n"
      "#include <string>\n"
      "#include <vector>\n"
      "\n",
      what, in_one_line(command));
  for (const std::string& header : headers) text += fmt::format("#include \"{}\"\n", header);
  return text + "\n";
}

/// Statements that make `model`, indented by two.
std::string load_statements(const ScriptModel& m) {
  std::string options;
  if (!m.import.external_data_dir.empty())
    options += ".external_data_dir = " + cpp_string(m.import.external_data_dir);
  if (m.import.ignore_external_data)
    options += std::string(options.empty() ? "" : ", ") + ".ignore_external_data = true";
  std::string text = fmt::format("  const std::shared_ptr<Model> model = load_model({}{});\n",
                                 cpp_string(m.path), options.empty() ? "" : ", {" + options + "}");
  if (m.infer_shapes) text += "  infer_shapes(*model);\n";
  if (m.mark_all) text += "  mark_all_outputs(*model);\n";
  if (m.outputs)
    text += fmt::format("  mark_outputs(*model, std::vector<std::string>{{{}}});\n", cpp_strings(*m.outputs));
  if (m.exclude_outputs)
    text += fmt::format("  unmark_outputs(*model, std::vector<std::string>{{{}}});\n",
                        cpp_strings(*m.exclude_outputs));
  if (m.convert_to_fp16) text += "  convert_to_float16(*model);\n";
  return text;
}

/// The headers of those statements.
std::vector<std::string> load_headers(const ScriptModel& m) {
  std::vector<std::string> headers = {"graph/import.h"};
  if (m.infer_shapes) headers.push_back("ops/infer.h");
  if (m.convert_to_fp16) headers.push_back("passes/convert_to_float16.h");
  if (m.mark_all || m.outputs || m.exclude_outputs) headers.push_back("passes/mark_outputs.h");
  return headers;
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

std::string onnx_gs_cpp(const ScriptModel& model, const std::string& saved_path, const std::string& command) {
  std::vector<std::string> headers = {"assay/edit.h", "assay/error.h", "graph/export.h"};
  for (std::string& h : load_headers(model)) headers.push_back(std::move(h));
  return head("Edits an ONNX model.", command, headers) +
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

std::string trt_network_cpp(const ScriptModel& model, const std::string& command) {
  std::vector<std::string> headers = {"assay/backend.h", "assay/edit.h", "assay/error.h",
                                      "assay/backend_set.h"};
  if (!model.path.empty())
    for (std::string& h : load_headers(model)) headers.push_back(std::move(h));
  if (!model.infer_shapes) headers.emplace_back("ops/infer.h");
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
      "  infer_shapes(*model);\n"
      "  const std::unique_ptr<Session> session = built_in_backends().get(\"engine\").open({model, {}}, "
      "{});\n";
  return head("Makes a network and plans it on the engine.", command, headers) +
         main_text(body + kPrintSession);
}

std::string trt_config_cpp(const ScriptModel& model, const std::string& command) {
  std::vector<std::string> headers = {"assay/backend.h", "assay/error.h", "assay/backend_set.h"};
  if (!model.path.empty()) {
    headers.emplace_back("graph/import.h");
    headers.emplace_back("ops/infer.h");
  }
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
            "  infer_shapes(*model);\n"
            "  const std::unique_ptr<Session> session = built_in_backends().get(\"engine\").open({model, "
            "{}}, options);\n" +
            kPrintSession;
  return head("Sets up the engine.", command, headers) + main_text(body);
}

}  // namespace assay::cli
