// Rows on inference, post-processing, comparison, verdict, and saved results.
#include "poly/run_table.h"

namespace assay::poly {

using S = RunSettings;
using M = RunMember;
using enum RunPart;
using enum RunWords;

namespace {

constexpr auto functions_member = [](S& s) -> M { return &s.compare_funcs; };
constexpr auto postprocess_member = [](S& s) -> M { return &s.postprocess; };
constexpr auto judge_member = [](S& s) -> M { return &s.verdict.judge; };

RunRow of_functions(Option option) {
  return {.part = kComparison,
          .member = "compare_funcs",
          .at = functions_member,
          .option = std::move(option),
          .words = kOwn};
}

RunGroup inference_group() {
  return {
      .title = "Comparator Inference",
      .description = "",
      .rows = {
          {.part = kOrder,
           .member = "sequential_runners",
           .at = [](S& s) -> M { return &s.sequential_runners; },
           .option = {.names = {"--sequential-runners"},
                      .help = "Run one runner after the other, all iterations of each, instead of all "
                              "runners in each iteration. Keeps the results of all iterations.",
                      .arity = Arity::kNone}},
          {.part = kOrder,
           .member = "warm_up",
           .at = [](S& s) -> M { return &s.warm_up; },
           .option = {.names = {"--warm-up"},
                      .help = "Runs of each runner that do not count, before those that do; default: 0. "
                              "Needs --sequential-runners, and turns it on.",
                      .metavar = "NUM",
                      .kind = ValueKind::kInteger},
           .least = 0},
          {.part = kOrder,
           .member = "use_subprocess",
           .at = [](S& s) -> M { return &s.use_subprocess; },
           .option = {.names = {"--use-subprocess"},
                      .help = "Run each runner in a process of its own. Needs --sequential-runners, and "
                              "turns it on.",
                      .arity = Arity::kNone}},
          {.part = kOutput,
           .member = "save.inputs",
           .at = [](S& s) -> M { return &s.save.inputs; },
           .option = {.names = {"--save-inputs", "--save-input-data"},
                      .help = "Save the inputs as JSON: in one file, or, where the path has no extension, in "
                              "a folder with a file per iteration.",
                      .metavar = "PATH"}},
          {.part = kOutput,
           .member = "save.outputs",
           .at = [](S& s) -> M { return &s.save.outputs; },
           .option = {.names = {"--save-outputs", "--save-results"},
                      .help = "Save the outputs of all runners as JSON: in one file, or, where the path has "
                              "no extension, in a folder with a file per iteration.",
                      .metavar = "PATH"}},
          {.part = kOutput,
           .member = "save.input_blobs",
           .at = [](S& s) -> M { return &s.save.input_blobs; },
           .option = {.names = {"--save-input-blob"},
                      .help = "Save the raw bytes of each input in DIR/ITERATION/NAME.bin; default: the "
                              "current folder.",
                      .arity = Arity::kOptional,
                      .metavar = "DIR"}},
      }};
}

RunGroup postprocessing_group() {
  return {
      .title = "Comparator Postprocessing",
      .description = "",
      .rows = {
          {.part = kComparison,
           .member = "postprocess",
           .at = postprocess_member,
           .option = {.names = {"--postprocess", "--postprocess-func"},
                      .help = "Replace outputs before they are compared: top-K by the indices of the K "
                              "largest values along an axis (default: the last).",
                      .arity = Arity::kAtLeastOne,
                      .metavar = "[OUTPUT:]top-K[,axis=A]",
                      .names_what = Names::kOutputs},
           .words = kOwn},
          // A module's function in --postprocess.
          {.part = kComparison,
           .member = "extensions.postprocess",
           .at = [](S& s) -> M { return &s.extensions.postprocess; }},
          {.part = kComparison,
           .member = "postprocess",
           .at = postprocess_member,
           .option = {.names = {"--postprocess-func-script"},
                      .help = "Replace outputs by what a function of this script (postprocess_outputs, "
                              "unless it is named) makes of an iteration's. Python (.py), C++ (.cpp) or a "
                              "library (.so).",
                      .metavar = "FILE[:FUNCTION]"},
           .words = kOwn},
      }};
}

std::vector<RunRow> verdict_rows() {
  return {
      {.part = kVerdict,
       .member = "verdict.judge",
       .at = judge_member,
       .option = {.names = {"--arbiter"},
                  .help = "Tell which outputs are wrong, against the float64 reference and the error that "
                          "rounding explains. On by itself when --ref runs. Decides whether the run passes, "
                          "together with tolerances that are given.",
                  .arity = Arity::kNone}},
      {.part = kVerdict,
       .member = "verdict.samples",
       .at = [](S& s) -> M { return &s.verdict.samples; },
       .option = {.names = {"--arbiter-samples"},
                  .help =
                      "Noisy evaluations that measure what rounding explains; default: 3, and 15 where those "
                      "leave it open.",
                  .metavar = "NUM",
                  .kind = ValueKind::kInteger},
       .words = kOwn},
      {.part = kVerdict,
       .member = "verdict.most_samples",
       .at = [](S& s) -> M { return &s.verdict.most_samples; }},
      {.part = kOutput,
       .member = "save.verdict",
       .at = [](S& s) -> M { return &s.save.verdict; },
       .option = {.names = {"--save-verdict"},
                  .help = "Save the verdict on every output as JSON.",
                  .metavar = "FILE"}},
      {.part = kVerdict,
       .member = "verdict.trace",
       .at = [](S& s) -> M { return &s.verdict.trace; },
       .option = {.names = {"--no-trace"},
                  .help = "Do not run again with every layer marked where an output seems wrong.",
                  .arity = Arity::kNone},
       .words = kOffAgain},
      {.part = kVerdict,
       .member = "verdict.no_excuses",
       .at = [](S& s) -> M { return &s.verdict.no_excuses; },
       .option = {.names = {"--no-excuse"},
                  .help = "Judge without these excuses, by the names that a verdict and its table in the "
                          "documentation give them: what such an excuse alone explains is then unclear or "
                          "wrong.",
                  .arity = Arity::kAtLeastOne,
                  .metavar = "NAME"}},
      {.part = kVerdict,
       .member = "verdict.partial",
       .at = [](S& s) -> M { return &s.verdict.partial; },
       .option = {.names = {"--partial"},
                  .help =
                      "Judge results of --load-outputs that lack outputs or iterations of this run, or hold "
                      "others, instead of refusing them.",
                  .arity = Arity::kNone}},
      // Set if an option configures the comparison.
      {.part = kVerdict,
       .member = "verdict.comparison_counts",
       .at = [](S& s) -> M { return &s.verdict.comparison_counts; }},
  };
}

RunGroup comparisons_group() {
  RunGroup group{
      .title = "Comparator Comparisons",
      .description = "",
      .rows = {
          {.part = kComparison,
           .member = "validate",
           .at = [](S& s) -> M { return &s.validate; },
           .option = {.names = {"--validate"},
                      .help = "Fail when an output holds a NaN or an infinity.",
                      .arity = Arity::kNone}},
          {.part = kComparison,
           .member = "fail_fast",
           .at = [](S& s) -> M { return &s.fail_fast; },
           .option = {.names = {"--fail-fast"},
                      .help = "Stop at the first mismatch.",
                      .arity = Arity::kNone}},
          // The functions of modules are choices, too: the command adds them.
          of_functions({.names = {"--compare", "--compare-func"},
                        .help = "The comparison functions; default: simple. Every one has to pass.",
                        .arity = Arity::kAtLeastOne,
                        .choices = {"simple", "indices", "l2", "cosine_similarity", "distance_metrics",
                                    "psnr", "snr", "quality_metrics", "perceptual_metrics"}}),
          // Functions of modules in --compare.
          {.part = kComparison,
           .member = "extensions.compare_funcs",
           .at = [](S& s) -> M { return &s.extensions.compare_funcs; }},
          of_functions({.names = {"--compare-func-script"},
                        .help =
                            "Compare with a function of this script (compare_outputs, unless it is named), "
                            "which gets one iteration of two runners and says of each output whether they "
                            "agree. Python (.py), C++ (.cpp) or a library (.so).",
                        .metavar = "FILE[:FUNCTION]"}),
          of_functions({.names = {"--no-shape-check"},
                        .help = "Permute or reshape outputs of different shapes instead of failing.",
                        .arity = Arity::kNone}),
          {.part = kComparison,
           .member = "check_average",
           .at = [](S& s) -> M { return &s.check_average; },
           .option = {.names = {"--check-average"},
                      .help = "The mean of each metric over all iterations decides, not each iteration. Of "
                              "`simple` it needs a --check-error-stat other than elemwise.",
                      .arity = Arity::kNone}},
          {.part = kOutput,
           .member = "save.accuracy_results",
           .at = [](S& s) -> M { return &s.save.accuracy_results; },
           .option = {.names = {"--save-accuracy-results"},
                      .help = "Save what every function measured as JSON, for `check accuracy`.",
                      .metavar = "FILE"}},
          {.part = kComparison,
           .member = "load_outputs",
           .at = [](S& s) -> M { return &s.load_outputs; },
           .option = {.names = {"--load-outputs", "--load-results"},
                      .help =
                          "Compare with the outputs that these files, or folders with a file per iteration, "
                          "hold.",
                      .arity = Arity::kAtLeastOne,
                      .metavar = "PATH"}},
      }};
  for (RunRow& row : verdict_rows()) group.rows.push_back(std::move(row));
  return group;
}

/// An option of a comparison function that takes a value for all outputs or for one.
RunRow by_output(std::vector<std::string> names, const char* help, const char* value = "VALUE") {
  return of_functions({.names = std::move(names),
                       .help = help,
                       .arity = Arity::kAtLeastOne,
                       .metavar = std::string("[OUTPUT:]") + value,
                       .names_what = Names::kOutputs});
}

RunGroup simple_group() {
  return {
      .title = "Comparison Function: `simple`",
      .description = "",
      .rows = {
          by_output({"--rtol", "--rel-tol"}, "Relative tolerance, for all outputs or for one; default: 1e-5.",
                    "TOL"),
          by_output({"--atol", "--abs-tol"},
                    "Absolute tolerance, for all outputs or for one; default: 1e-5. An element passes within "
                    "either.",
                    "TOL"),
          by_output({"--check-error-stat"},
                    "What is held against the tolerances: elemwise (default), max, mean, median or quantile.",
                    "STAT"),
          of_functions({.names = {"--infinities-compare-equal"},
                        .help = "Infinities of one sign are equal. Otherwise their difference is NaN, which "
                                "fails.",
                        .arity = Arity::kNone}),
          {.part = kOutput,
           .member = "save.heatmaps",
           .at = [](S& s) -> M { return &s.save.heatmaps; },
           .option = {.names = {"--save-heatmaps"},
                      .help = "Folder for heatmaps of the absolute and the relative error of each output, as "
                              "SVG.",
                      .metavar = "DIR"}},
          {.part = kOutput,
           .member = "save.error_plots",
           .at = [](S& s) -> M { return &s.save.error_plots; },
           .option = {.names = {"--save-error-metrics-plot"},
                      .help = "Folder for plots of the errors over the magnitude of each output, as PNG.",
                      .metavar = "DIR"}},
          by_output({"--error-quantile"},
                    "The quantile that --check-error-stat quantile checks, in [0, 1]; default: 0.99.", "Q"),
      }};
}

}  // namespace

std::vector<RunGroup> comparison_rows() {
  return {
      inference_group(),
      postprocessing_group(),
      comparisons_group(),
      simple_group(),
      {.title = "Comparison Function: `indices`",
       .description = "",
       .rows = {by_output({"--index-tolerance"},
                          "Places that an index may have moved, for all outputs or for one; default: 0.",
                          "NUM")}},
      {.title = "Comparison Function: `l2`",
       .description = "",
       .rows = {by_output({"--l2-threshold", "--l2-tolerance"},
                          "The largest Euclidean distance, for all outputs or for one; default: 1e-5.")}},
      {.title = "Comparison Function: `cosine_similarity`",
       .description = "",
       .rows = {by_output({"--cosine-similarity-threshold"},
                          "The smallest cosine of the angle, for all outputs or for one; default: 0.997.")}},
      {.title = "Comparison Function: `psnr`",
       .description = "",
       .rows = {by_output({"--psnr-threshold", "--psnr-tolerance"},
                          "The smallest peak signal-to-noise ratio in decibels, for all outputs or for one; "
                          "default: 30.")}},
      {.title = "Comparison Function: `snr`",
       .description = "",
       .rows = {by_output(
           {"--snr-threshold", "--snr-tolerance"},
           "The smallest signal-to-noise ratio in decibels, for all outputs or for one; default: "
           "20.")}},
      {.title = "Comparison Function: `perceptual_metrics`",
       .description = "",
       .rows = {by_output({"--lpips-threshold", "--lpips-tolerance"},
                          "The largest perceptual distance, for all outputs or for one; default: 0.1.")}},
  };
}

}  // namespace assay::poly
