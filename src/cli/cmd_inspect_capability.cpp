// assay inspect capability: shows which nodes of a model the engine can run, and how.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "assay/inspect.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/cmd_inspect.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/registries.h"
#include "cli/values.h"
#include "graph/clone.h"
#include "graph/export.h"
#include "inspect/input_shapes.h"
#include "inspect/range_extractor.h"
#include "ops/infer.h"
#include "surgeon/contradiction.h"

namespace assay::cli::command_inspect_capability {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultFolder = "polygraphy_capability_dumps";

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  add_onnx_model_option(parser);
  parser.add_group("Capability").options = {
      {.names = {"--with-partitioning"},
       .help = "Also save the parts of the model that can run and those that cannot, as models.",
       .arity = Arity::kNone},
      {.names = {"--input-shapes"},
       .help =
           "Shapes of inputs to plan for, as in image:[1,3,224,224]; open extents are taken as 1 without it.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME:SHAPE",
       .names_what = Names::kInputs},
      {.names = {"--json"},
       .help = "Write which nodes can run, and how, to this file, too.",
       .metavar = "FILE"},
  };
  add_onnx_shape_inference_options(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  parser.add_group("ONNX Model Saving").options = {
      {.names = {"-o", "--output"},
       .help =
           fmt::format("The folder for results.txt and the parts of the model; default: {}.", kDefaultFolder),
       .metavar = "DIR"},
      {.names = {"--save-external-data", "--external-data-path"},
       .help = "Save weights in a file of their own next to each part, called after it and SUFFIX; default: "
               "_ext_data.",
       .arity = Arity::kOptional,
       .metavar = "SUFFIX"},
      {.names = {"--external-data-size-threshold"},
       .help = "Tensors that are smaller stay in the model; default: 1024 bytes. K, M and G are understood.",
       .metavar = "BYTES"},
      {.names = {"--no-save-all-tensors-to-one-file"},
       .help = "Save every external tensor in its own file.",
       .arity = Arity::kNone},
  };
}

/// Output files.
class Folder {
 public:
  explicit Folder(const ParsedArgs& args) : path_(args.text("-o").value_or(kDefaultFolder)) {
    if (const auto occurrences = args.all("--save-external-data"); !occurrences.empty())
      suffix_ = occurrences.front().empty() || occurrences.front().front().empty()
                    ? "_ext_data"
                    : occurrences.front().front();
    if (const auto bytes = args.text("--external-data-size-threshold"))
      export_.external_data_threshold = parse_byte_count(*bytes);
    export_.one_file_per_tensor = args.has("--no-save-all-tensors-to-one-file");
  }

  void save_results(const std::string& text) const {
    const std::string path = (path_ / "results.txt").string();
    log::info("Saving results to {}", path);
    AtomicFile file(path);
    file.write(text);
    file.commit();
  }

  void save_range(const RangeExtractor& ranges, NodeRange range) const {
    const std::string stem = fmt::format("{}supported_subgraph-nodes-{}-{}", range.is_supported ? "" : "un",
                                         range.begin, range.end - 1);
    const std::string path = (path_ / (stem + ".onnx")).string();
    ExportOptions options = export_;
    options.external_data = suffix_.has_value();
    if (suffix_) options.external_data_path = stem + *suffix_;
    log::info("Saving ONNX model to: {}", path);
    save_model(*ranges.extract(range), path, options);
  }

 private:
  fs::path path_;
  ExportOptions export_;
  std::optional<std::string> suffix_;
};

/// A copy whose inputs have known extents, for planning.
std::shared_ptr<Model> with_known_inputs(const Model& model, const std::string& path,
                                         const std::vector<InputShape>& shapes) {
  std::shared_ptr<Model> copy = clone_model(model);
  for (const InputShape& s : shapes) set_input_shape(*copy, s.name, s.dims);
  if (!shapes.empty())
    with_context([&] { return file_place(path); },
                 [&] { require_possible(model, *copy, "the shapes that --input-shapes gives"); });
  for (Value* v : copy->graph->inputs) {
    if (!v->type.has_shape() || known_shape(*v->type.dims)) continue;
    Dims dims = *v->type.dims;
    for (Dim& d : dims)
      if (!d.is_known()) d = Dim(1);
    log::warning(
        "Input tensor: {} | Will plan for shape: {}.\nIf this is not how the model is used, give "
        "--input-shapes.",
        v->name(), dims_str(dims));
    set_input_shape(*copy, v->name(), dims);
  }
  infer_shapes(*copy, {.on_problem = [](const Node&, const std::string&) {}});
  return copy;
}

void report_tactics(const RangeCapability& range) {
  const std::string nodes = fmt::format("nodes {} to {}", range.nodes.begin, range.nodes.end - 1);
  if (range.use)
    log::info("{}", tactics_text(*range.use));
  else if (!range.open_input.empty())
    log::warning("How {} run is not known, because the shape of their input '{}' is not.", nodes,
                 range.open_input);
  else
    log::error("The engine cannot plan {}: {}", nodes, range.problem);
}

void save_json(const Capability& capability, const std::string& path) {
  log::info("Saving capability to {}", path);
  AtomicFile file(path);
  file.write(capability_json(capability));
  file.commit();
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const Folder folder(args);
  const std::vector<InputShape> shapes =
      parse_input_shapes("--input-shapes", args.list("--input-shapes").value_or(std::vector<std::string>()));
  const bool is_partitioned = args.has("--with-partitioning");
  const std::string path = read_onnx_model_path(args);
  const std::shared_ptr<Model> model = load_onnx_model(args, path, context.registries().ops);
  const Capability found =
      capability(*model, [&](const Model& m) { return with_known_inputs(m, path, shapes); });
  std::vector<NodeRange> ranges;
  for (const RangeCapability& range : found.ranges) {
    ranges.push_back(range.nodes);
    if (range.nodes.is_supported) report_tactics(range);
  }
  if (const auto json = args.text("--json")) save_json(found, *json);
  if (found.unsupported.empty()) {
    if (found.is_planned())
      log::info("Graph is fully supported by the engine; Will not {}.",
                is_partitioned ? "generate subgraphs" : "report errors");
    return 0;
  }
  if (is_partitioned) {
    const RangeExtractor extractor(*model);
    for (const NodeRange& range : ranges) folder.save_range(extractor, range);
  }
  const std::string text = is_partitioned ? unsupported_ranges_text(ranges, found.unsupported)
                                          : unsupported_nodes_text(found.unsupported);
  log::info("{}", text);
  folder.save_results(text);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "capability",
    .summary = "Show which nodes of a model the engine can run, and how.",
    .description =
        "Shows which nodes of a model run on fast tactics of the engine, which by plain evaluation, and "
        "which cannot "
        "run, with the reasons.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_inspect_capability
