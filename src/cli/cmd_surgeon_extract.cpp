// assay surgeon extract: extracts a part of a model as a separate model.
#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "base/log.h"
#include "cli/cmd_surgeon.h"
#include "cli/model_editing.h"
#include "cli/options/data_loader.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/values.h"
#include "graph/clone.h"
#include "graph/metadata_text.h"
#include "naming/selector.h"
#include "run/observed_types.h"
#include "surgeon/contradiction.h"
#include "surgeon/extract.h"
#include "surgeon/input_shapes.h"

namespace assay::cli::command_surgeon_extract {
namespace {

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_model_options(parser, /*is_required=*/true,
                    "Shapes for the data that --force-fallback-shape-inference evaluates the model on, as in "
                    "image:[1,3,224,224].",
                    {"--model-input-shapes", "--model-inputs"});
  add_data_loader_options(parser);
  add_onnx_shape_inference_options(parser, InferenceOptions::kOffFallback);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_onnx_output_options(parser);
  parser.add_group("Extraction").options = {
      {.names = {"--inputs"},
       .help = "The inputs of the part, each `name:shape:dtype`, as in x:[1,3,'height']:float32; shape and "
               "dtype may be "
               "`auto`. Default: the model's inputs; the option alone: none, for a part that is constant.",
       .arity = Arity::kAny,
       .metavar = "INPUT",
       .names_what = Names::kTensors},
      {.names = {"--outputs"},
       .help =
           "The outputs of the part, each `name:dtype`; dtype may be `auto`. Default: the model's outputs.",
       .arity = Arity::kAtLeastOne,
       .metavar = "OUTPUT",
       .names_what = Names::kTensors},
  };
}

bool is_auto(std::string_view word) {
  return word.size() == 4 && std::equal(word.begin(), word.end(), "auto", [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         });
}

/// Splits the last `:part` off.
std::string take_last(const std::string& option, const std::string& whole, std::string& rest) {
  // A colon of a path is not a separator.
  const size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon == 0 || rest[colon - 1] == ':')
    log::critical(ErrorCode::kInvalidArgument, "{}: could not parse {}. Expected {}", option, whole,
                  option == "--inputs" ? "name:shape:dtype, as in x:[1,3]:float32 or x:auto:auto."
                                       : "name:dtype, as in y:float32 or y:auto.");
  std::string part = rest.substr(colon + 1);
  rest.resize(colon);
  return part;
}

std::optional<DType> parse_dtype(const std::string& option, const std::string& whole,
                                 const std::string& word) {
  if (is_auto(word)) return std::nullopt;
  std::string name = word;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (const auto dtype = dtype_from_name(name)) return dtype;
  log::critical(ErrorCode::kInvalidArgument,
                "{}: could not understand data type: {} (in {}). Did you forget to specify a data type? Use "
                "one of float32, "
                "float16, bfloat16, int64, int32, bool and so on, or `auto`.",
                option, word, whole);
}

CutTensor parse_cut(const std::string& option, const std::string& word, bool has_shape) {
  CutTensor t{.name = word, .dims = {}, .dtype = {}};
  t.dtype = parse_dtype(option, word, take_last(option, word, t.name));
  if (!has_shape) return t;
  const std::string shape = take_last(option, word, t.name);
  if (!is_auto(shape)) {
    const std::string spec = t.name + ":" + shape;
    t.dims = parse_input_shapes(option, {&spec, 1}).at(0).dims;
  }
  return t;
}

/// The tensors that a list of words names, and their graph.
struct Cut {
  std::vector<CutTensor> tensors;
  Graph* graph = nullptr;
};

Cut read_cut(const ParsedArgs& args, const std::string& option, Model& model) {
  Cut cut;
  for (const std::string& word : args.list(option).value_or(std::vector<std::string>())) {
    const CutTensor t = parse_cut(option, word, option == "--inputs");
    for (const Value* v : select_values(model, t.name)) {
      if (cut.graph != nullptr && cut.graph != &v->graph())
        log::critical(ErrorCode::kInvalidArgument, "{}: '{}' is in another graph than the tensors before it.",
                      option, word);
      cut.graph = &v->graph();
      cut.tensors.push_back({v->name(), t.dims, t.dtype});
    }
  }
  return cut;
}

bool is_missing(const Graph& g, const CutTensor& t, bool needs_shape) {
  const Value* v = g.find_value(t.name);
  const bool has_dtype = t.dtype || (v->type.is_tensor() ? v->type.dtype != DType::kUndefined
                                                         : v->type.kind != Type::Kind::kUnknown);
  const bool may_have_shape = v->type.is_tensor() || v->type.kind == Type::Kind::kUnknown;
  return !has_dtype || (needs_shape && !t.dims && may_have_shape && !v->type.has_shape());
}

/// Tensors of the cut whose type or shape is incomplete.
std::vector<CutTensor> find_missing(const Graph& g, const Cut& inputs, const Cut& outputs) {
  std::vector<CutTensor> missing;
  const auto is_new = [&](const CutTensor& t) {
    return std::none_of(missing.begin(), missing.end(), [&](const CutTensor& m) { return m.name == t.name; });
  };
  for (const CutTensor& t : inputs.tensors)
    if (is_missing(g, t, true)) missing.push_back(t);
  for (const CutTensor& t : outputs.tensors)
    if (is_missing(g, t, false) && is_new(t)) missing.push_back(t);
  return missing;
}

std::string metadata_text(const Graph& g, const std::vector<CutTensor>& tensors) {
  MetadataText text;
  for (const CutTensor& t : tensors) {
    const Type& known = g.find_value(t.name)->type;
    text.add(t.name, t.dtype.value_or(known.dtype), t.dims ? t.dims : known.dims);
  }
  return text.str();
}

/// Completes types and shapes of the cut by inference and, where that is not enough, by evaluation.
void complete_types(const ParsedArgs& args, const std::shared_ptr<Model>& model, const ModelOptions& options,
                    const Cut& inputs, const Cut& outputs, bool is_main) {
  const Graph& g = inputs.graph != nullptr ? *inputs.graph : *model->graph;
  const bool forced = args.has("--force-fallback-shape-inference");
  if (forced) {
    log::info("Forcing fallback shape inference. This will cause dynamic dimensions to become static.");
  } else if (!find_missing(g, inputs, outputs).empty() && !args.has("--shape-inference")) {
    log::info(
        "Running shape inference to derive shapes and/or data types for `auto` arguments.\n"
        "To avoid this, you can specify the shapes and data types explicitly.");
    infer_known_shapes(*model, true);
  }
  const std::vector<CutTensor> missing = find_missing(g, inputs, outputs);
  if (!is_main || (!forced && missing.empty())) return;
  try {
    if (!forced)
      log::warning(
          "Some tensor shapes or dtypes are missing in the model. Note: Tensors with missing information:\n"
          "{}\nWill run inference to determine shapes. This may cause some dynamic dimensions to become "
          "static.\nTo avoid this, please provide metadata on the command-line. ",
          metadata_text(g, missing));
    observe_types(model, input_cache(read_data_options(args, options.input_shapes)));
  } catch (const Error& e) {
    if (forced) throw;
    log::warning("The model cannot be evaluated to find types and shapes: {}", e.what());
  }
}

/// True when a tensor is to have a type that differs from the model's.
bool differs(const Graph& g, const Cut& cut) {
  return std::any_of(cut.tensors.begin(), cut.tensors.end(), [&](const CutTensor& t) {
    const Type& known = g.find_value(t.name)->type;
    if (t.dtype && (!known.is_tensor() || *t.dtype != known.dtype)) return true;
    return t.dims && (!known.has_shape() || *known.dims != *t.dims);
  });
}

Cut all_of(const std::vector<Value*>& values, Graph* graph) {
  Cut cut{.tensors = {}, .graph = graph};
  for (const Value* v : values) cut.tensors.push_back({v->name(), {}, {}});
  return cut;
}

/// Reduces the model to the part that the options request.
void cut_out(const ParsedArgs& args, const std::shared_ptr<Model>& model, const ModelOptions& options) {
  Cut inputs = read_cut(args, "--inputs", *model), outputs = read_cut(args, "--outputs", *model);
  Graph* graph = inputs.graph != nullptr    ? inputs.graph
                 : outputs.graph != nullptr ? outputs.graph
                                            : model->graph.get();
  if (outputs.graph != nullptr && outputs.graph != graph)
    log::critical(ErrorCode::kInvalidArgument, "The inputs and outputs of the part must lie in one graph.");
  const bool is_main = graph == model->graph.get();
  const bool has_no_inputs = args.has("--inputs") && inputs.tensors.empty();
  complete_types(args, model, options,
                 inputs.graph != nullptr || has_no_inputs ? inputs : all_of(graph->inputs, graph), outputs,
                 is_main);
  make_main_graph(*model, *graph);
  graph = model->graph.get();
  if (inputs.graph == nullptr && !has_no_inputs) inputs = all_of(graph->inputs, graph);
  if (outputs.graph == nullptr) outputs = all_of(graph->outputs, graph);
  const bool is_redeclared = differs(*graph, inputs) || differs(*graph, outputs);
  const std::shared_ptr<Model> before = is_redeclared ? clone_model(*model) : nullptr;
  extract(*graph, inputs.tensors, outputs.tensors);
  if (is_redeclared) {
    // Types in the part were inferred from the old types.
    forget_shapes(*graph);
    require_possible(*before, *model, "the shapes and types that --inputs and --outputs give");
    infer_known_shapes(*model, false);
  }
  const std::unordered_set<const Value*> given(graph->outputs.begin(), graph->outputs.end());
  for (const Value* v : graph->inputs)
    if (v->consumers().empty() && !given.contains(v))
      log::warning("The outputs do not depend on the input '{}'.", v->name());
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ModelOptions options = read_model_options(args);
  context.announce();
  const std::shared_ptr<Model> model = load_onnx_model(args, options.path, context.registries().ops);
  log_model("Original Model", *model);
  edit(options.path, [&] { cut_out(args, model, options); });
  save_edited_model(args, *model);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "extract",
    .summary = "Extract a part of a model.",
    .description =
        "Saves the part of a model between given inputs and outputs as a model of its own. Weights are not "
        "read: they stay in their "
        "file where the new model is next to it, and are copied otherwise.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_surgeon_extract
