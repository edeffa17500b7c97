// Rows on runners and their sessions, and on files loaded and written.
#include "poly/run_table.h"

namespace assay::poly {

using S = RunSettings;
using M = RunMember;
using enum RunPart;
using enum RunWords;

namespace {

constexpr auto runners_member = [](S& s) -> M { return &s.runners; };

}  // namespace

std::vector<RunGroup> runner_rows() {
  const auto row = [](Option option) {
    return RunRow{.part = kRunners,
                  .member = "runners",
                  .at = runners_member,
                  .option = std::move(option),
                  .words = kOwn};
  };
  return {
      // Each backend also has a flag for a runner: the command adds the available ones.
      {.title = "Runners",
       .description = "May be repeated and mixed; they run in the order given.",
       .rows =
           {
               row({.names = {"--strict-trt"},
                    .help = "With --trt: TensorRT itself, by the tensorrt package of ASSAY_TENSORRT or of "
                            "python3, and an error where it cannot run.",
                    .arity = Arity::kNone}),
               row({.names = {"--runner-script"},
                    .help = "A class of this Python file, which loads the model and infers in your own "
                            "interpreter (docs/guide/runners.md); or the name of a runner that a package of "
                            "that interpreter adds.",
                    .metavar = "FILE.py[:CLASS]"}),
               row({.names = {"--runner-options"},
                    .help = "Keyword arguments for the class of --runner-script.",
                    .arity = Arity::kAtLeastOne,
                    .metavar = "NAME=VALUE"}),
               row({.names = {"--tf"},
                    .help = "TensorFlow of your own interpreter (ASSAY_TENSORFLOW, or python3): frozen "
                            "graphs, SavedModels, Keras models and checkpoints.",
                    .arity = Arity::kNone}),
               row({.names = {"--pytorch"},
                    .help = "PyTorch of your own interpreter (ASSAY_TORCH, or python3): TorchScript and "
                            "exported programs.",
                    .arity = Arity::kNone}),
           }},
      {.title = "TensorFlow and PyTorch",
       .description = "",
       .rows =
           {
               row({.names = {"--tf-outputs"},
                    .help = "Outputs of a TensorFlow graph; default: those that nothing uses.",
                    .arity = Arity::kAtLeastOne,
                    .metavar = "NAME"}),
               row({.names = {"--save-pb"}, .help = "Save the frozen TensorFlow graph.", .metavar = "FILE"}),
               row({.names = {"--ckpt"}, .help = "Name of the checkpoint in its folder.", .metavar = "NAME"}),
               {.option = {.names = {"--opset"},
                           .help =
                               "The opset of a conversion from TensorFlow, which this build does not make. "
                               "A model in ONNX keeps its own: surgeon convert-opset converts it.",
                           .metavar = "N",
                           .kind = ValueKind::kInteger}},
               row({.names = {"--pytorch-inputs"},
                    .help =
                        "Types and shapes of a TorchScript model's inputs, which it does not keep: {\"x\": "
                        "[\"float32\", [1,3,224,224]]}.",
                    .metavar = "JSON"}),
           }},
      {.title = "Backends",
       .description = "",
       .rows =
           {
               {.part = kSession,
                .member = "session.threads",
                .at = [](S& s) -> M { return &s.session.threads; },
                .option = {.names = {"--threads"},
                           .help = "Threads of each backend; default: the CPUs this process may use.",
                           .metavar = "N",
                           .kind = ValueKind::kInteger},
                .words = kOwn},
               {.part = kSession,
                .member = "session.reference_precision",
                .at = [](S& s) -> M { return &s.session.reference_precision; },
                .option = {.names = {"--ref-precision"},
                           .help = "What --ref computes in: everything in float64 (default), or each result "
                                   "rounded to the type that the model declares.",
                           .choices = {"float64", "stored"}}},
               {.part = kSession,
                .member = "session.providers",
                .at = [](S& s) -> M { return &s.session.providers; },
                .option = {.names = {"--providers", "--execution-providers"},
                           .help =
                               "Execution providers of ONNX Runtime in order of priority, by name or part "
                               "of it; default: cpu.",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "NAME"}},
               {.part = kSession,
                .member = "session.library",
                .at = [](S& s) -> M { return &s.session.library; },
                .option = {.names = {"--onnxrt-library"},
                           .help = "The shared library of ONNX Runtime; default: the first one found.",
                           .metavar = "FILE"}},
               {.part = kSession,
                .member = "session.custom_ops",
                .at = [](S& s) -> M { return &s.session.custom_ops; },
                .option = {.names = {"--custom-ops"},
                           .help = "Shared libraries with operators of your own for ONNX Runtime, as its "
                                   "register_custom_ops_library takes them.",
                           .arity = Arity::kAtLeastOne,
                           .metavar = "LIBRARY"}},
               {.part = kSession,
                .member = "session.graph_optimization_level",
                .at = [](S& s) -> M { return &s.session.graph_optimization_level; },
                .option = {.names = {"--graph-optimization-level"},
                           .help =
                               "How far ONNX Runtime changes the graph: ORT_DISABLE_ALL, ORT_ENABLE_BASIC, "
                               "ORT_ENABLE_EXTENDED, ORT_ENABLE_LAYOUT or ORT_ENABLE_ALL; default: ONNX "
                               "Runtime's.",
                           .metavar = "LEVEL"},
                .words = kOwn},
               {.part = kSession,
                .member = "session.optimize",
                .at = [](S& s) -> M { return &s.session.optimize; }},
           }},
  };
}

std::vector<RunGroup> output_rows() {
  return {
      {.title = "Settings and Generated Program",
       .description = "",
       .rows =
           {
               {.option = {.names = {"--settings"},
                           .help =
                               "Run as this file says, which --save-settings wrote. An option of the command "
                               "line replaces what the file says of the same.",
                           .metavar = "FILE"}},
               {.option = {.names = {"--save-settings"},
                           .help =
                               "Save as JSON what this command line says, all options of a run, before it "
                               "runs.",
                           .metavar = "FILE"}},
               {.option = {.names = {"--gen", "--gen-script"},
                           .help =
                               "Run nothing, and write a program that does what this command line says: in "
                               "C++ (.cpp, .cc, .cxx), on the installed library, or in Python (any other "
                               "name, or - for standard output), which runs this program.",
                           .metavar = "FILE"}},
           }},
      {.title = "Extensions",
       .description = "",
       .rows =
           {
               {.part = kExtensions,
                .member = "extensions.modules",
                .at = [](S& s) -> M { return &s.extensions.modules; },
                .option = {.names = {"--extension"},
                           .help = "Load this extension module, too. May be repeated.",
                           .metavar = "FILE"},
                .words = kOwn},
               {.option = {.names = {"--no-extensions"},
                           .help = "Load no extension module but those of --extension.",
                           .arity = Arity::kNone}},
               // The options of modules.
               {.part = kExtensions,
                .member = "extensions.options",
                .at = [](S& s) -> M { return &s.extensions.options; }},
           }},
      {.title = "Resources",
       .description = "",
       .rows = {
           {.part = kProcess,
            .member = "memory_limit",
            .at = [](S& s) -> M { return &s.memory_limit; },
            .option = {.names = {"--memory-limit"},
                       .help =
                           "How many bytes all tensors may take together, as in 500M or 8G; what needs more "
                           "ends in an error that says so. Files that are mapped do not count. Default: half "
                           "of the memory that the machine or the control group has.",
                       .metavar = "BYTES"},
            .words = kBytes},
       }}};
}

}  // namespace assay::poly
