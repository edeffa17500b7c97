// A run as data, and as a file (docs/guide): poly::run() of assay/run.h runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/api.h"
#include "assay/backend.h"
#include "assay/builder.h"
#include "assay/comparator.h"
#include "assay/io.h"
#include "assay/loaders.h"
#include "assay/type.h"

namespace ASSAY_API assay {
namespace poly {

/// The log's contents and form, for the whole process.
struct RunLog {
  /// LEVEL, or PATH:LEVEL for single sources, as --verbosity takes them.
  std::vector<std::string> verbosity = {};
  bool timestamp = false, line_info = false, colors = true;
  std::string file = {};  ///< written, too; empty: none
};

/// The model, and what is changed of it before runners get it.
struct RunModel {
  std::string path = {};
  /// onnx; engine (a plan); what runners in Python read: frozen, keras, ckpt, saved, torch.
  std::string format = "onnx";
  /// FILE.py[:FUNCTION] that makes the model in place of the file.
  std::string network_script = {};
  ImportOptions import = {};
  bool infer_shapes = false;
  /// Which tensors are its outputs: every tensor; these (any selectors); those that nodes of these operators
  /// compute.
  bool mark_all = false;
  std::optional<std::vector<std::string>> outputs = {}, exclude_outputs = {};
  std::vector<std::string> output_types = {};
  bool convert_to_fp16 = false;
  /// Applied to the model as it was read, before anything else.
  std::vector<std::function<void(Network&)>> edits = {};

  std::string save_path = {};  ///< where the changed model is saved; empty: nowhere
  /// Where its external data go; nothing: they stay where they are, "": the default name.
  std::optional<std::string> save_external_data = {};
  std::optional<int64_t> external_data_threshold = {};  ///< bytes; smaller tensors stay in the model
  bool one_file_per_tensor = false;
};

/// One runner: `backend`, `script` or `open` says which.
struct RunRunner {
  /// engine, onnxrt, reference; trt (the engine in TensorRT's role: built as RunSettings::engine says);
  /// tensorflow, pytorch, tensorrt (in Python; the last one takes what it can of RunSettings::engine); the
  /// backend of a module.
  std::string backend = {};
  /// FILE.py[:CLASS] of a runner in Python, or the name of one that a package adds (docs/guide/runners.md).
  std::string script = {};
  /// Of a runner in Python: keyword arguments of the class.
  std::vector<std::pair<std::string, std::string>> options = {};
  /// Opens a session of the program's own; `name` is then what the log calls the runner.
  std::function<std::unique_ptr<Session>(const ModelSource&, const SessionOptions&)> open = {};
  std::string name = {};
};

/// Smallest and largest number to draw; what is left out is 0 and 1.
struct RunRange {
  std::optional<Number> low = {}, high = {};
};

/// Shapes of inputs by name; names may be patterns.
using RunShapes = std::vector<std::pair<std::string, Dims>>;

/// Where the inputs come from: the program's own source, else a script, else files, else random numbers.
struct RunData {
  int64_t seed = 1;  ///< iteration i draws with seed + i
  int64_t iterations = 1;
  RunShapes shapes = {};
  /// By input, as ByOutput does it for outputs.
  std::vector<std::pair<std::string, RunRange>> ranges = {};
  /// For all integer and all other inputs, in place of `ranges`.
  std::optional<RunRange> integer_range = {}, float_range = {};
  /// Files and folders as --save-inputs writes them.
  std::vector<std::string> load_inputs = {};
  /// FILE[:FUNCTION], as --data-loader-script takes it.
  std::string script = {};
  DataSource source = {};
};

/// One profile of the engine.
struct RunProfile {
  RunShapes min = {}, opt = {}, max = {};
};

/// How the engine in TensorRT's role is built.
struct RunEngine {
  BuilderConfig config = {};
  /// With config.int8 and no calibrator in it: the file of scales (read if it is there, else written), and
  /// how scales are found on the run's own data.
  std::string calibration_cache = {};
  CalibrationAlgorithm calibration_algorithm = CalibrationAlgorithm::kEntropy2;
  double calibration_quantile = 0.9999;
  std::vector<RunProfile> profiles = {};
  std::string config_script = {};  ///< FILE.py[:FUNCTION] that changes all of this when the network is known
  /// FILE.py[:FUNCTION]s that change the network, and one that changes the complete configuration.
  std::vector<std::string> network_postprocess_scripts = {};
  std::string config_postprocess_script = {};
  bool mark_all = false;
  std::optional<std::vector<std::string>> outputs = {}, exclude_outputs = {};
  /// Types of the engine's inputs and outputs, by name or pattern, in place of those that the model
  /// declares.
  std::vector<std::pair<std::string, DType>> tensor_types = {};
  std::vector<std::string> output_layer_types = {};  ///< of TensorRT, as CONVOLUTION: their outputs, too
  std::string load_timing_cache = {}, save_timing_cache = {}, load_tactics = {},
              save_tactics = {};  ///< paths
  std::string save_engine = {};   ///< path of the plan
  size_t profile = 0;             ///< that is run with
  bool explain = false;
};

/// The files that are written; an empty path: none. A path without an extension is a folder with a file per
/// iteration.
struct RunSaving {
  std::string inputs = {}, outputs = {};
  std::string input_blobs = {};  ///< folder: ITERATION/NAME.bin
  std::string accuracy_results = {}, verdict = {};
  std::string heatmaps = {}, error_plots = {};  ///< folders
};

/// The verdict against the float64 reference. It is on by itself when the backend `reference` runs.
struct RunVerdict {
  bool judge = false;
  int samples = 3, most_samples = 15;  ///< noisy evaluations; most_samples where the first ones leave it open
  bool trace = true;                   ///< run again with every layer marked where an output seems wrong
  bool partial = false;                ///< saved results may lack outputs and iterations, and hold others
  std::vector<std::string> no_excuses = {};  ///< names of excuses that do not count: excuse_rules()
  /// The comparison decides, too. Else, where there is a verdict, it alone does.
  bool comparison_counts = false;
};

/// Modules (docs/guide/extensions.md), and what their options say: first names, with the words behind each.
struct RunExtensions {
  std::vector<std::string> modules = {};  ///< files
  std::vector<std::pair<std::string, std::vector<std::string>>> options = {};
  /// Names of their comparison functions, used behind RunSettings::compare_funcs, and of the post-processing
  /// function that is used in place of RunSettings::postprocess.
  std::vector<std::string> compare_funcs = {};
  std::string postprocess = {};
};

struct RunSettings {
  std::optional<RunLog> log = {};            ///< nothing: the log stays as it is
  std::optional<int64_t> memory_limit = {};  ///< bytes that all tensors of the process may take together
  RunExtensions extensions = {};
  RunModel model = {};
  std::vector<RunRunner> runners = {};  ///< in order
  SessionOptions session = {};          ///< of every runner
  RunEngine engine = {};
  RunData data = {};
  /// One runner after the other, all iterations of each, instead of all runners in each iteration. The next
  /// two need it.
  bool sequential_runners = false;
  int64_t warm_up = 0;  ///< runs that do not count
  bool use_subprocess = false;
  std::vector<std::string> load_outputs =
      {};  ///< files and folders whose results are compared with the runners'
  std::optional<PostprocessFunc> postprocess = {};
  std::vector<CompareFunc> compare_funcs = {CompareFunc::simple()};
  bool validate = false;       ///< NaN and infinity fail
  bool fail_fast = false;      ///< stop at the first mismatch
  bool check_average = false;  ///< the mean of each metric over the iterations decides
  RunVerdict verdict = {};
  RunSaving save = {};
  /// Called before and after each inference, and for each iteration that is compared. What it throws ends the
  /// run, which throws it; what is complete by then stays saved.
  std::function<void()> on_step = {};
};

/// Saves what a run is as JSON: what differs from the defaults, each member by its name, as in "data.seed".
/// The file appears whole or not at all. Throws Error: kUnsupported naming what only a program can have (a
/// function, a session of its own), kIo.
void save_run_settings(const RunSettings& settings, const std::string& path);
/// Such a file. Throws Error that names the file, the member and the remedy: for one that is damaged, of
/// another version, contradicts itself, or has members or values that no run has; for scripts that are not
/// there.
RunSettings load_run_settings(const std::string& path);

}  // namespace poly
}  // namespace assay
