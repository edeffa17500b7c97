// assay inspect model: inputs, outputs, nodes, attributes and weights of a model.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/unbounded_dds.h"
#include "assay/inspect.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "bench/layer_times_file.h"
#include "cli/cmd_inspect.h"
#include "cli/model_editing.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/unavailable.h"
#include "cli/page_output.h"
#include "cli/registries.h"
#include "graph/to_text.h"
#include "graph/topological_scope.h"
#include "inspect/input_shapes.h"
#include "inspect/metadata_text.h"
#include "inspect/viewer_page.h"
#include "passes/pass_list.h"
#include "run/model_loader.h"
#include "run/results.h"
#include "run/script_parts.h"
#include "script/network_script.h"
#include "tensor/statistics.h"

namespace assay::cli::command_inspect_model {
namespace {

void add_display_options(ArgParser& parser) {
  parser.add_group("Display").options = {
      {.names = {"--show"},
       .help =
           "What to show in addition to inputs and outputs: the nodes (`layers`), with `layers` also their "
           "attributes (`attrs`), and the elements of constants (`weights`). Or the whole model in ONNX's "
           "text form (`text`), on stdout without log prefixes; of long constants the first elements "
           "only, unless `weights` is there, too.",
       .arity = Arity::kAtLeastOne,
       .choices = {"layers", "attrs", "weights", "text"}},
      {.names = {"--mode"},
       .help = "The older spelling: none, basic (--show layers), attrs (layers attrs) or full (layers attrs "
               "weights).",
       .choices = {"none", "basic", "attrs", "full"}},
      {.names = {"--display-as", "--convert-to"},
       .help = "Show the model as a network of TensorRT's layers (trt), one for each node and each constant.",
       .choices = {"trt"}},
      {.names = {"--list-unbounded-dds"},
       .help = "List the tensors whose values decide, without a bound, how large others become. Fold the "
               "constants and infer the shapes first.",
       .arity = Arity::kNone},
      {.names = {"--stats"},
       .help = "Count parameters, multiply-accumulates and the memory of activations, by operator and, with "
               "--show layers, by layer. Shapes are inferred for it.",
       .arity = Arity::kNone},
      {.names = {"--combine-tensor-info"},
       .help = "Of a plan: add least, largest and mean element of the tensors that this file of results has.",
       .metavar = "FILE"},
      {.names = {"--layer-times"},
       .help = "Of a plan: rank the products that stay in float32 for want of an algorithm by the times of "
               "this profile (bench --export-profile), not by their multiply-adds.",
       .metavar = "FILE"},
      {.names = {"--trt-network-func-name"},
       .help = "Of a network script: the function that makes the network; default: load_network.",
       .metavar = "NAME"},
      {.names = {"--json"}, .help = "Write these counts to this file; implies --stats.", .metavar = "FILE"},
  };
}

void add_viewer_options(ArgParser& parser) {
  parser.add_group("Viewer", "The model as a picture in a browser, instead of text (docs/guide/viewer.md).")
      .options = {
      {.names = {"--visual"},
       .help =
           "Serve a page that shows the graph at http://127.0.0.1:PORT/ until Ctrl+C. Nodes can be clicked, "
           "searched and opened.",
       .arity = Arity::kNone},
      {.names = {"--visual-port"},
       .help = "The port of that page; 0: any free one. The default is 8000.",
       .metavar = "PORT",
       .kind = ValueKind::kInteger},
      {.names = {"--save-visual"},
       .help = "Save the page to this file instead. It is one file, and needs no network.",
       .metavar = "FILE"},
  };
}

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_model_options(parser, /*is_required=*/true,
                    "Show the model for these shapes of its inputs, as in image:[1,3,224,224], and infer the "
                    "others.");
  add_display_options(parser);
  add_viewer_options(parser);
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  add_unavailable_inspect_options(parser);
}

DescribeOptions read_text_options(const ParsedArgs& args) {
  DescribeOptions options;
  const std::string mode = args.text("--mode").value_or("none");
  options.layers = mode != "none";
  options.attrs = mode == "attrs" || mode == "full";
  options.weights = mode == "full";
  for (const std::string& what : args.list("--show").value_or(std::vector<std::string>())) {
    options.layers = options.layers || what == "layers";
    options.attrs = options.attrs || what == "attrs";
    options.weights = options.weights || what == "weights";
  }
  return options;
}

void list_unbounded_dds(Model& model) {
  const TopologicalScope sorted(model);
  std::string list;
  for (const Value* v : unbounded_dds_tensors(*model.graph, model))
    list += (list.empty() ? "" : ", ") + variable_text(*v);
  log::info("Found tensors with unbounded DDS: [{}]", list);
}

void show_stats(const ParsedArgs& args, Model& model) {
  pass_inline_functions::def.run(model);
  const TopologicalScope sorted(model);
  infer_known_shapes(model);
  const ModelStats stats = model_stats(model);
  log::info("==== Model Statistics ====\n{}", stats_text(stats, read_text_options(args).layers));
  const auto path = args.text("--json");
  if (!path) return;
  log::info("Saving statistics to {}", *path);
  AtomicFile file(*path);
  file.write(stats_json(stats));
  file.commit();
}

bool shows(const ParsedArgs& args, std::string_view what) {
  const std::vector<std::string> words = args.list("--show").value_or(std::vector<std::string>());
  return std::find(words.begin(), words.end(), what) != words.end();
}

/// Elements of each constant in the text form, unless all are requested.
constexpr int64_t kTextElements = 8;

void show_text(const ParsedArgs& args, const Model& model) {
  log::print(to_text(model, {.max_elements = shows(args, "weights") ? -1 : kTextElements, .visible = true}));
}

/// The data of the first iteration of the first runner.
std::map<std::string, std::string> tensor_notes(const std::string& path) {
  std::map<std::string, std::string> notes;
  const RunResults results = load_run_results(path);
  if (results.runners.empty() || results.runners[0].second.empty()) return notes;
  for (const auto& [name, stored] : results.runners[0].second[0].outputs) {
    const Tensor t = stored.load();
    if (t.is_container() || t.dtype() == DType::kString || t.numel() == 0) continue;
    const Statistics s = statistics(t);
    notes[name] = fmt::format(", min={:.2f}, max={:.2f}, avg={:.2f}", s.min, s.max, s.mean);
  }
  return notes;
}

bool wants_viewer(const ParsedArgs& args) { return args.has("--visual") || args.has("--save-visual"); }

/// Warns of options that affect only the text, and of viewer options without effect. Throws Error for an
/// invalid port.
void check_viewer_options(const ParsedArgs& args) {
  page_port(args, "--visual-port");
  if (args.has("--visual-port") && (!args.has("--visual") || args.has("--save-visual")))
    log::warning("--visual-port is of use only where --visual serves the page.");
  if (!wants_viewer(args)) return;
  for (const char* option :
       {"--show", "--mode", "--display-as", "--list-unbounded-dds", "--combine-tensor-info", "--layer-times"})
    if (args.has(option)) log::warning("{} is about the text, which the viewer replaces.", option);
}

void show_page(const ParsedArgs& args, const WritePage& write) {
  const auto path = args.text("--save-visual");
  // As upstream does: at an address that can be known before.
  if (!path) return serve_page(write, page_port(args, "--visual-port"), "--visual-port", {});
  save_page(*path, write);
  log::info("Viewer HTML saved to {}", *path);
}

int show_engine(const ParsedArgs& args, const std::string& path, const Registries& registries) {
  for (const char* option : {"--stats", "--json", "--list-unbounded-dds", "--input-shapes"})
    if (args.has(option)) log::warning("{} is about ONNX models; of a plan it shows nothing.", option);
  log::info("Loading bytes from {}", path);
  // Nothing runs, so warnings about speed are not needed.
  RuntimeOptions runtime_options = registries.for_runtime();
  runtime_options.threads = 1;
  runtime_options.on_warning = [](const std::string&) {};
  const Runtime runtime(std::move(runtime_options));
  if (wants_viewer(args)) {
    const std::shared_ptr<Engine> engine = runtime.load_engine(path);
    show_page(args, [&](const PageSink& sink) { write_engine_page(*engine, path, sink); });
    return 0;
  }
  const DescribeOptions text = read_text_options(args);
  std::map<std::string, std::string> notes;
  if (const auto file = args.text("--combine-tensor-info")) notes = tensor_notes(*file);
  EngineDescription engine = describe(*runtime.load_engine(path), text);
  if (const auto file = args.text("--layer-times")) add_layer_times(engine, bench::load_layer_times(*file));
  log::info("==== TensorRT Engine ====\n{}", engine_text(engine, notes));
  return 0;
}

void print_model(const ParsedArgs& args, Model& model, bool is_network) {
  if (shows(args, "text"))
    show_text(args, model);
  else if (args.has("--display-as") || is_network)
    log::info("==== TensorRT Network ====\n{}",
              network_text(describe_network(model, read_text_options(args))));
  else
    log::info("==== ONNX Model ====\n{}", model_text(model, read_text_options(args)));
  if (args.has("--list-unbounded-dds")) list_unbounded_dds(model);
}

/// The model of a file, or the network that a script makes.
std::shared_ptr<Model> load(const ParsedArgs& args, const ModelOptions& options,
                            const Registries& registries) {
  if (options.network_script.empty()) return load_onnx_model(args, options.path, registries.ops);
  for (const char* option : {"--external-data-dir", "--ignore-external-data", "--fp-to-fp16"})
    if (args.has(option))
      log::warning("{} is about ONNX files; of a network script it changes nothing.", option);
  const std::shared_ptr<Model> model = script_network(script::parse_reference(
      options.network_script, args.text("--trt-network-func-name").value_or(script::kNetworkFunction)))();
  if (args.has("--shape-inference")) infer_known_shapes(*model);
  return model;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ModelOptions options = read_model_options(args, Plans::kAccepted);
  check_viewer_options(args);
  if (options.is_plan) return show_engine(args, options.path, context.registries());
  for (const char* option : {"--combine-tensor-info", "--layer-times"})
    if (args.has(option)) log::warning("{} is about plans; of an ONNX model it shows nothing.", option);
  if (args.has("--trt-network-func-name") && options.network_script.empty())
    log::warning("--trt-network-func-name is about network scripts; {} is none.", options.path);
  const std::shared_ptr<Model> model = load(args, options, context.registries());
  if (!options.input_shapes.empty()) {
    const TopologicalScope sorted(*model);
    for (const InputShape& shape : options.input_shapes) set_input_shape(*model, shape.name, shape.dims);
    infer_known_shapes(*model);
  }
  if (wants_viewer(args))
    show_page(args, [&](const PageSink& sink) { write_model_page(*model, options.path, sink); });
  else
    print_model(args, *model, /*is_network=*/!options.network_script.empty());
  if (!wants_viewer(args) && !args.is_upstream() && !shows(args, "text"))
    log::info("==== Model Metadata ====\n{}", metadata_text(*model, read_text_options(args).attrs));
  if (args.has("--stats") || args.has("--json")) show_stats(args, *model);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "model",
    .summary = "Show the inputs, outputs, nodes and weights of a model, or the layers of an engine's plan.",
    .description =
        "Shows the inputs, outputs, nodes, attributes and weights of a model, as text or, with --visual, as "
        "a picture. Weights are read only when "
        "they "
        "are to be shown, so this takes as long as reading the structure, at any size.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_inspect_model
