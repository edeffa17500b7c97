// A run from end to end, as `assay run` does it: every runner on the same data, one iteration after the other
// in bounded memory; results saved, compared and judged against the float64 reference. `assay run
// --gen-script FILE.cpp` writes a program that fills RunSettings.
//
//   RunSettings run;
//   run.model.path = "model.onnx";
//   run.runners = {{.backend = "engine"}, {.backend = "onnxrt"}};
//   run.compare_funcs = {CompareFunc::simple({.atol = 1e-3})};
//   if (poly::run(run).outcome == RunSummary::Outcome::kPassed) ...
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/accuracy.h"
#include "assay/api.h"
#include "assay/run_settings.h"

namespace ASSAY_API assay {
namespace poly {

/// Content and format of the log, process-wide.
struct RunLog {
  /// LEVEL, or PATH:LEVEL for one source, as in --verbosity.
  std::vector<std::string> verbosity = {};
  bool timestamp = false, line_info = false, colors = true;
  std::string file = {};  ///< additional log file; empty: none
};

/// The model, and changes to it before runners get it.
struct RunModel {
  std::string path = {};
  /// onnx; engine (a plan); formats of Python runners: frozen, keras, ckpt, saved, torch.
  std::string format = "onnx";
  /// FILE.py[:FUNCTION] that creates the model, in place of a file.
  std::string network_script = {};
  ImportOptions import = {};
  bool infer_shapes = false;
  /// Its outputs: all tensors; these (any selectors);
  /// outputs of nodes of these operators.
  bool mark_all = false;
  std::optional<std::vector<std::string>> outputs = {}, exclude_outputs = {};
  std::vector<std::string> output_types = {};
  bool convert_to_fp16 = false;
  /// Applied to the model as it was read, before anything else.
  std::vector<std::function<void(Network&)>> edits = {};

  std::string save_path = {};  ///< where the changed model is saved; empty: nowhere
  /// File of its external data; nothing: they stay in place, "": the default name.
  std::optional<std::string> save_external_data = {};
  std::optional<int64_t> external_data_threshold = {};  ///< bytes; smaller tensors stay in the model
  bool one_file_per_tensor = false;
};

/// A runner: exactly one of these.
struct RunRunner {
  /// engine, onnxrt, reference; trt (the engine in TensorRT's role: built as RunSettings::engine says);
  /// tensorflow, pytorch, tensorrt (in Python; the last one uses the applicable parts of
  /// RunSettings::engine); the backend of a module.
  std::string backend = {};
  /// FILE.py[:CLASS] of a runner in Python, or the name of one that a package adds (docs/guide/runners.md).
  std::string script = {};
  /// Of a runner in Python: keyword arguments of the class.
  std::vector<std::pair<std::string, std::string>> options = {};
  /// Opens a session of the program's own; `name` is then the runner's name in the log.
  std::function<std::unique_ptr<Session>(const ModelSource&, const SessionOptions&)> open = {};
  std::string name = {};
};

/// Smallest and largest random value; defaults are 0 and 1.
struct RunRange {
  std::optional<Number> low = {}, high = {};
};

/// Shapes of inputs by name; names may be patterns.
using RunShapes = std::vector<std::pair<std::string, Dims>>;

/// The source of inputs: a function of the program, else a script, else files, else random values.
struct RunData {
  int64_t seed = 1;  ///< iteration i draws with seed + i
  int64_t iterations = 1;
  RunShapes shapes = {};
  /// By input, as ByOutput does for outputs.
  std::vector<std::pair<std::string, RunRange>> ranges = {};
  /// For all integer and all other inputs, in place of `ranges`.
  std::optional<RunRange> integer_range = {}, float_range = {};
  /// Files and folders in the format of --save-inputs.
  std::vector<std::string> load_inputs = {};
  /// FILE[:FUNCTION], as in --data-loader-script.
  std::string script = {};
  DataSource source = {};
};

/// One optimization profile of the engine.
struct RunProfile {
  RunShapes min = {}, opt = {}, max = {};
};

/// Build settings of the engine in TensorRT's role.
struct RunEngine {
  BuilderConfig config = {};
  /// With config.int8 and without a calibrator in it: the file of scales (read if it exists, else written),
  /// and the calibration algorithm on the run's own data.
  std::string calibration_cache = {};
  CalibrationAlgorithm calibration_algorithm = CalibrationAlgorithm::kEntropy2;
  double calibration_quantile = 0.9999;
  std::vector<RunProfile> profiles = {};
  std::string config_script = {};  ///< FILE.py[:FUNCTION] that changes all of this
  /// FILE.py[:FUNCTION]s that change the network, and one that changes the complete configuration.
  std::vector<std::string> network_postprocess_scripts = {};
  std::string config_postprocess_script = {};
  bool mark_all = false;
  std::optional<std::vector<std::string>> outputs = {}, exclude_outputs = {};
  /// Types of the engine's inputs and outputs, by
  /// name or pattern, in place of the declared ones.
  std::vector<std::pair<std::string, DType>> tensor_types = {};
  std::vector<std::string> output_layer_types = {};  ///< TensorRT's names, such as CONVOLUTION
  std::string load_timing_cache = {}, save_timing_cache = {}, load_tactics = {},
              save_tactics = {};  ///< paths
  std::string save_engine = {};   ///< path of the plan
  size_t profile = 0;             ///< index of the profile to run with
  bool explain = false;
};

/// Files to write; empty paths: none. A path without an
/// extension is a folder with one file per iteration.
struct RunSaving {
  std::string inputs = {}, outputs = {};
  std::string input_blobs = {};  ///< folder: ITERATION/NAME.bin
  std::string accuracy_results = {}, verdict = {};
  std::string heatmaps = {}, error_plots = {};  ///< folders
};

/// The verdict against the float64 reference. It is enabled when the backend `reference` runs.
struct RunVerdict {
  bool judge = false;
  int samples = 3, most_samples = 15;  ///< noisy evaluations; most_samples where the first ones do not decide
  bool trace = true;                   ///< run again with every layer marked where an output seems wrong
  bool partial = false;                ///< saved results may lack outputs and iterations, and hold others
  std::vector<std::string> no_excuses = {};  ///< names of disabled excuses: excuse_rules()
  /// The comparison decides, too; otherwise a verdict alone decides.
  bool comparison_counts = false;
};

/// Modules (docs/guide/extensions.md) and their options: first names with their arguments.
struct RunExtensions {
  std::vector<std::string> modules = {};  ///< files
  std::vector<std::pair<std::string, std::vector<std::string>>> options = {};
  /// Names of their comparison functions, used after RunSettings::compare_funcs, and of the post-processing
  /// function that replaces RunSettings::postprocess.
  std::vector<std::string> compare_funcs = {};
  std::string postprocess = {};
};

struct RunSettings {
  std::optional<RunLog> log = {};            ///< nothing: the log is unchanged
  std::optional<int64_t> memory_limit = {};  ///< total bytes of all tensors of the process
  RunExtensions extensions = {};
  RunModel model = {};
  std::vector<RunRunner> runners = {};  ///< in order
  SessionOptions session = {};          ///< of every runner
  RunEngine engine = {};
  RunData data = {};
  /// One runner after the other, all iterations of each, instead of all runners in each iteration. The next
  /// two need it.
  bool sequential_runners = false;
  int64_t warm_up = 0;  ///< untimed warm-up runs
  bool use_subprocess = false;
  std::vector<std::string> load_outputs = {};  ///< files and folders of saved results to compare with the
                                               ///< runners' results
  std::optional<PostprocessFunc> postprocess = {};
  std::vector<CompareFunc> compare_funcs = {CompareFunc::simple()};
  bool validate = false;       ///< NaN and infinity fail
  bool fail_fast = false;      ///< stop at the first mismatch
  bool check_average = false;  ///< the mean of each metric over the iterations decides
  RunVerdict verdict = {};
  RunSaving save = {};
  /// Called before and after each inference, and for each iteration that is compared. An exception from it
  /// ends the run and is passed on; completed results stay saved.
  std::function<void()> on_step = {};
};

/// Saves the settings that differ from the defaults as JSON, each member by its name, as in "data.seed". The
/// file is written atomically. Throws Error: kUnsupported naming a member that cannot be saved (a function, a
/// session of the program), kIo.
void save_run_settings(const RunSettings& settings, const std::string& path);
/// Reads such a file. Throws Error that names the file, the
/// member and the remedy: for damaged files, other versions,
/// contradictions, unknown members and values, and missing scripts.
RunSettings load_run_settings(const std::string& path);

/// The result of a run.
struct RunSummary {
  enum class Outcome : uint8_t {
    kPassed = 0,
    kFailed = 1,   ///< outputs differ, are invalid or are wrong
    kUnclear = 3,  ///< nothing is wrong, but a verdict is undecided or was not made
  };
  Outcome outcome = Outcome::kPassed;
  std::vector<std::string> runners = {};  ///< names: those that ran, then those whose results were loaded
  int64_t iterations = 0;                 ///< common to all of them
  AccuracyResult accuracy = {};           ///< of the compared ones
  std::vector<std::string> invalid =
      {};  ///< outputs with NaN or infinity, as RUNNER/OUTPUT: the first hundred
  /// Number of occurrences of each verdict, by its name in the JSON of a verdict.
  std::map<std::string, int64_t> verdicts = {};

  /// Exit status, as of `assay run`.
  int exit_status() const { return static_cast<int>(outcome); }
};

/// Runs, with log lines in Polygraphy's format. Throws Error for
/// what ends the run; completed results stay saved. Settings with
/// `data.source` can be run once; calibration reads from a copy of it.
RunSummary run(const RunSettings& settings);

/// The body of main() in a program for one run: `describe` fills the settings, the log begins with RUNNING
/// and the command line, and ends with PASSED or FAILED; an Error is logged in a line. Signals and
/// broken pipes are handled as in `assay`. Returns the exit status. Once per process.
int run_main(int argc, const char* const* argv, const std::function<void(RunSettings&)>& describe);

}  // namespace poly
}  // namespace assay
