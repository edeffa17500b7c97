// assay surgeon insert: replaces the nodes between given tensors by a new node.
#include "base/log.h"
#include "cli/cmd_surgeon.h"
#include "cli/model_editing.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/values.h"
#include "surgeon/insert.h"

namespace assay::cli::command_surgeon_insert {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser, "model_file", "The ONNX model.");
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_onnx_output_options(parser);
  parser.add_group("Inserted Node").options = {
      {.names = {"--inputs"},
       .help = "The tensors that the node reads.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .required = true,
       .names_what = Names::kTensors},
      {.names = {"--outputs"},
       .help = "The tensors that the node computes instead of what did. One that it also reads is followed "
               "by a new tensor.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME",
       .required = true,
       .names_what = Names::kTensors},
      {.names = {"--op"},
       .help = "The operator; one of another domain as domain.Operator.",
       .required = true},
      {.names = {"--name"}, .help = "The node's name."},
      {.names = {"--attrs"},
       .help = "Attributes, each name=value: integers, numbers with a decimal point, 'text', or [lists] of "
               "these.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME=VALUE"},
  };
}

Attribute::Data to_attribute(const std::string& name, const PythonValue& value) {
  if (value.text() != nullptr) return *value.text();
  if (value.list() == nullptr)
    return value.is_int() ? Attribute::Data(value.as_int())
                          : Attribute::Data(static_cast<float>(value.as_double()));
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  for (const PythonValue& item : *value.list()) {
    if (item.text() != nullptr)
      strings.push_back(*item.text());
    else if (item.is_number())
      floats.push_back(static_cast<float>(item.as_double()));
    else
      log::critical(ErrorCode::kInvalidArgument,
                    "--attrs: {} is a list inside a list, which no attribute holds.", name);
    if (item.is_int()) ints.push_back(item.as_int());
  }
  const size_t count = value.list()->size();
  if (strings.size() == count && count > 0) return strings;
  if (!strings.empty())
    log::critical(ErrorCode::kInvalidArgument, "--attrs: {} mixes text and numbers.", name);
  if (ints.size() == count) return ints;
  return floats;
}

AttributeList read_attributes(const ParsedArgs& args) {
  AttributeList list;
  for (const std::string& word : args.list("--attrs").value_or(std::vector<std::string>())) {
    const size_t equals = word.rfind('=');
    if (equals == std::string::npos || equals == 0)
      log::critical(ErrorCode::kInvalidArgument,
                    "--attrs: could not parse {}. Expected name=value, as in axis=1.", word);
    const std::string name = word.substr(0, equals);
    list.emplace_back(name, to_attribute(name, python_cast(word.substr(equals + 1))));
  }
  return list;
}

/// `Op`, or `domain.Op`, where the domain may hold dots.
void set_operator(const std::string& word, Model& model, InsertedNode& node) {
  const size_t dot = word.rfind('.');
  node.op_type = dot == std::string::npos ? word : word.substr(dot + 1);
  node.domain = dot == std::string::npos ? "" : word.substr(0, dot);
  // A domain that the model does not import gets version 1, as in GraphSurgeon.
  if (model.opset(node.domain) == 0) model.opsets.push_back({node.domain, 1});
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string path = read_onnx_model_path(args, "model_file");
  InsertedNode node{.op_type = {},
                    .name = args.text("--name").value_or(""),
                    .domain = {},
                    .inputs = args.list("--inputs").value(),
                    .outputs = args.list("--outputs").value(),
                    .attributes = read_attributes(args)};
  const std::shared_ptr<Model> model = load_onnx_model(args, path, context.registries().ops);
  log_model("Original Model", *model);
  set_operator(args.text("--op").value(), *model, node);
  edit(path, [&] { insert_node(*model, node); });
  if (args.has("--shape-inference")) infer_known_shapes(*model, true);
  save_edited_model(args, *model);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "insert",
    .summary = "Insert a node.",
    .description =
        "Inserts one node in place of the nodes between given tensors. The operator need not exist.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_surgeon_insert
