// Rows on the log, the model and its inputs.
#include "poly/run_table.h"

namespace assay::poly {

using S = RunSettings;
using M = RunMember;
using enum RunPart;
using enum RunWords;

namespace {

constexpr auto log_member = [](S& s) -> M { return &s.log; };
constexpr auto path_member = [](S& s) -> M { return &s.model.path; };
constexpr auto outputs_member = [](S& s) -> M { return &s.model.outputs; };
constexpr auto integers_member = [](S& s) -> M { return &s.data.integer_range; };
constexpr auto floats_member = [](S& s) -> M { return &s.data.float_range; };
constexpr auto script_member = [](S& s) -> M { return &s.data.script; };

}  // namespace

std::vector<RunGroup> log_rows() {
  const auto row = [](Option option) {
    return RunRow{
        .part = kProcess, .member = "log", .at = log_member, .option = std::move(option), .words = kOwn};
  };
  return {
      {.title = "Logging",
       .description = "",
       .rows = {
           row({.names = {"-v", "--verbose"}, .help = "Say more. May be repeated.", .arity = Arity::kNone}),
           row({.names = {"-q", "--quiet"}, .help = "Say less. May be repeated.", .arity = Arity::kNone}),
           row({.names = {"--verbosity"},
                .help =
                    "Level of everything, or of one source folder or file: ULTRA_VERBOSE, SUPER_VERBOSE, "
                    "EXTRA_VERBOSE, VERBOSE, INFO, START, FINISH, WARNING, ERROR or CRITICAL. Wins over -v "
                    "and -q. A path is one below src/ (backends/onnxrt.cpp), or Polygraphy's "
                    "(backend/onnxrt).",
                .arity = Arity::kAtLeastOne,
                .metavar = "[PATH:]LEVEL"}),
           row({.names = {"--silent"}, .help = "Say nothing but what ends the run.", .arity = Arity::kNone}),
           row({.names = {"--log-format"},
                .help = "Add the time or the source line to each line, or leave out the colours.",
                .arity = Arity::kAtLeastOne,
                .choices = {"timestamp", "line-info", "no-colors"}}),
           row({.names = {"--log-file"}, .help = "Write the log here too.", .metavar = "FILE"}),
       }}};
}

std::vector<RunGroup> model_rows() {
  return {
      {.title = "Model",
       .description = "",
       .rows =
           {
               {.part = kModel,
                .member = "model.path",
                .at = path_member,
                .option = {.names = {"model_file"},
                           .help = "The ONNX model: binary, in ONNX's text form (.onnxtxt, .txt), or in "
                                   "protobuf's text format (.textproto, .prototxt) or JSON; where a command "
                                   "takes one, an engine's plan (.plan, .engine).",
                           .arity = Arity::kOptional},
                .words = kOwn},
               {.part = kModel,
                .member = "model.format",
                .at = [](S& s) -> M { return &s.model.format; },
                .option = {.names = {"--model-type"},
                           .help = "What the file holds, if its name does not say so. This build reads onnx "
                                   "and, as plans of its own engine, engine; runners in Python read frozen, "
                                   "keras, ckpt, saved and torch.",
                           .choices = {"frozen", "keras", "ckpt", "onnx", "engine", "uff",
                                       "trt-network-script", "caffe", "saved", "torch"}},
                .words = kOwn},
               {.part = kModel,
                .member = "model.network_script",
                .at = [](S& s) -> M { return &s.model.network_script; }},
               {.part = kData,
                .member = "data.shapes",
                .at = [](S& s) -> M { return &s.data.shapes; },
                .option = {.names = {"--input-shapes", "--inputs"},
                           .help = "Shapes for the data to generate, as in image:[1,3,224,224].",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "NAME:SHAPE",
                           .names_what = Names::kInputs}},
           }},
      {.title = "ONNX Model Saving",
       .description = "",
       .rows =
           {
               {.part = kModel,
                .member = "model.save_path",
                .at = [](S& s) -> M { return &s.model.save_path; },
                .option = {.names = {"--save-onnx"},
                           .help = "Save the model that is run, with all changes.",
                           .metavar = "FILE"}},
               {.part = kModel,
                .member = "model.save_external_data",
                .at = [](S& s) -> M { return &s.model.save_external_data; },
                .option = {.names = {"--save-external-data", "--external-data-path"},
                           .help =
                               "Save weights in a file of their own, next to the model. Without it, weights "
                               "in external files stay there if the new model is next to them.",
                           .arity = Arity::kOptional,
                           .metavar = "FILE"}},
               {.part = kModel,
                .member = "model.external_data_threshold",
                .at = [](S& s) -> M { return &s.model.external_data_threshold; },
                .option = {.names = {"--external-data-size-threshold"},
                           .help =
                               "Tensors that are smaller stay in the model; default: 1024 bytes. K, M and "
                               "G are understood.",
                           .metavar = "BYTES"},
                .words = kBytes},
               {.part = kModel,
                .member = "model.one_file_per_tensor",
                .at = [](S& s) -> M { return &s.model.one_file_per_tensor; },
                .option = {.names = {"--no-save-all-tensors-to-one-file"},
                           .help = "Save every external tensor in its own file.",
                           .arity = Arity::kNone}},
           }},
      {.title = "ONNX Shape Inference",
       .description = "",
       .rows =
           {
               {.part = kModel,
                .member = "model.infer_shapes",
                .at = [](S& s) -> M { return &s.model.infer_shapes; },
                .option = {.names = {"--shape-inference", "--do-shape-inference"},
                           .help = "Infer shapes while loading, so that a model that is saved has them.",
                           .arity = Arity::kNone,
                           .exclusive = "shape inference"}},
               {.option = {.names = {"--no-onnxruntime-shape-inference"},
                           .help = "Accepted; shape inference is built in and never asks ONNX Runtime.",
                           .arity = Arity::kNone}},
           }},
      {.title = "ONNX Model Loading",
       .description = "",
       .rows =
           {
               {.part = kModel,
                .member = "model.import.external_data_dir",
                .at = [](S& s) -> M { return &s.model.import.external_data_dir; },
                .option = {.names = {"--external-data-dir", "--load-external-data", "--ext"},
                           .help = "Folder of the model's external data, if they are not next to the model.",
                           .metavar = "DIR"}},
               {.part = kModel,
                .member = "model.import.ignore_external_data",
                .at = [](S& s) -> M { return &s.model.import.ignore_external_data; },
                .option = {.names = {"--ignore-external-data"},
                           .help = "Load the structure without external weights.",
                           .arity = Arity::kNone}},
               {.part = kModel,
                .member = "model.import.keep_node_order",
                .at = [](S& s) -> M { return &s.model.import.keep_node_order; }},
               {.part = kModel,
                .member = "model.import.allow_weightless",
                .at = [](S& s) -> M { return &s.model.import.allow_weightless; }},
               {.part = kModel,
                .member = "model.mark_all",
                .at = [](S& s) -> M { return &s.model.mark_all; }},
               {.part = kModel,
                .member = "model.outputs",
                .at = outputs_member,
                .option = {.names = {"--onnx-outputs"},
                           .help =
                               "Tensors to use as the model's outputs: names or patterns; '*' alone means "
                               "every tensor that a node computes.",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "NAME",
                           .names_what = Names::kTensors},
                .words = kOwn},
               {.part = kModel,
                .member = "model.output_types",
                .at = [](S& s) -> M { return &s.model.output_types; },
                .option = {.names = {"--onnx-outputs-by-type"},
                           .help = "Use what nodes with these operators compute as the model's outputs; with "
                                   "--onnx-outputs, besides those.",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "OPERATOR"}},
               {.part = kModel,
                .member = "model.exclude_outputs",
                .at = [](S& s) -> M { return &s.model.exclude_outputs; },
                .option = {.names = {"--onnx-exclude-outputs"},
                           .help = "Outputs to leave out.",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "NAME",
                           .names_what = Names::kTensors}},
               {.part = kModel,
                .member = "model.convert_to_fp16",
                .at = [](S& s) -> M { return &s.model.convert_to_fp16; },
                .option = {.names = {"--fp-to-fp16"},
                           .help = "Compute in float16; inputs and outputs keep their types.",
                           .arity = Arity::kNone}},
           }},
  };
}

std::vector<RunGroup> data_rows() {
  const auto deprecated = [](std::string_view member, RunMember (*at)(S&), const char* name, const char* what,
                             ValueKind kind) {
    return RunRow{.part = kData,
                  .member = member,
                  .at = at,
                  .option = {.names = {name},
                             .help = std::string("Deprecated, use --val-range: ") + what,
                             .metavar = "NUM",
                             .kind = kind},
                  .words = kOwn};
  };
  return {
      {.title = "Data Loader",
       .description = "",
       .rows = {
           {.part = kData,
            .member = "data.seed",
            .at = [](S& s) -> M { return &s.data.seed; },
            .option = {.names = {"--seed"},
                       .help = "Seed of random inputs; default: 1.",
                       .metavar = "NUM",
                       .kind = ValueKind::kInteger}},
           {.part = kData,
            .member = "data.ranges",
            .at = [](S& s) -> M { return &s.data.ranges; },
            .option = {.names = {"--val-range"},
                       .help = "Smallest and largest value to generate, for all inputs or for one; default: "
                               "[0,1].",
                       .arity = Arity::kAtLeastOne,
                       .metavar = "[INPUT:][MIN,MAX]",
                       .names_what = Names::kInputs}},
           deprecated("data.integer_range", integers_member, "--int-min", "smallest integer.",
                      ValueKind::kInteger),
           deprecated("data.integer_range", integers_member, "--int-max", "largest integer.",
                      ValueKind::kInteger),
           deprecated("data.float_range", floats_member, "--float-min", "smallest number.",
                      ValueKind::kNumber),
           deprecated("data.float_range", floats_member, "--float-max", "largest number.",
                      ValueKind::kNumber),
           {.part = kData,
            .member = "data.iterations",
            .at = [](S& s) -> M { return &s.data.iterations; },
            .option = {.names = {"--iterations", "--iters"},
                       .help = "Sets of inputs to generate and to run; default: 1.",
                       .metavar = "NUM",
                       .kind = ValueKind::kInteger}},
           {.option = {.names = {"--data-loader-backend-module"},
                       .help = "Whose random generator to use. This build has NumPy's.",
                       .choices = {"numpy", "torch"}}},
           {.part = kData,
            .member = "data.load_inputs",
            .at = [](S& s) -> M { return &s.data.load_inputs; },
            .option = {.names = {"--load-inputs", "--load-input-data"},
                       .help = "Run on the inputs that these files hold, instead of random ones.",
                       .arity = Arity::kAtLeastOne,
                       .metavar = "FILE"}},
           {.part = kData,
            .member = "data.script",
            .at = script_member,
            .option = {.names = {"--data-loader-script"},
                       .help = "Run on what a function of this script gives (load_data, unless it is "
                               "named): dictionaries from input names to arrays, one for each iteration. "
                               "Python (.py), C++ (.cpp) or a library (.so).",
                       .metavar = "FILE[:FUNCTION]"},
            .words = kOwn},
           {.part = kData,
            .member = "data.script",
            .at = script_member,
            .option = {.names = {"--data-loader-func-name"},
                       .help = "Deprecated, name it behind the file: the function of "
                               "--data-loader-script.",
                       .metavar = "NAME"},
            .words = kOwn},
       }}};
}

}  // namespace assay::poly
