#include "cli/bench_options.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "assay/error.h"
#include "base/input_file.h"
#include "base/log.h"
#include "cli/bench_ignored.h"
#include "cli/options/layer_types.h"
#include "cli/options/runners.h"
#include "cli/route_tuning.h"
#include "engine/plan/file_bytes.h"
#include "run/calibration.h"
#include "run/python_parse.h"

namespace assay::cli {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr double kLongest = 1e7;  // seconds
constexpr int64_t kMaxNumber = 1'000'000'000;

void add_model_group(ArgParser& parser) {
  parser.add_group("Model").options = {
      {.names = {"model_file"},
       .help = "An ONNX model, or the plan of an engine.",
       .arity = Arity::kOptional},
      {.names = {"--onnx"}, .help = "The ONNX model.", .metavar = "FILE"},
      {.names = {"--load-engine", "--loadEngine"}, .help = "The plan of an engine.", .metavar = "FILE"},
      {.names = {"--save-engine", "--saveEngine"},
       .help = "Write the plan of the engine that is built.",
       .metavar = "FILE"},
      {.names = {"--backends"},
       .help = "What runs the model: engine, onnxrt, reference; engine:0 is an engine built at optimization "
               "level 0. "
               "Several run in turns, and the first is what the others are compared with. Default: engine.",
       .arity = Arity::kAtLeastOne,
       .metavar = "NAME"},
      onnxrt_library_option(),
      custom_ops_option(),
  };
}

/// Scales from one set of numbers between -1 and 1, as trtexec has them.
std::shared_ptr<Int8Calibrator> random_scales() {
  const DataLoaderOptions numbers = {.ranges = {{"", {PythonValue(-1.0), PythonValue(1.0)}}}};
  log::warning("--int8 without --calib: scales come from random inputs, so that results mean nothing.");
  return make_calibrator({.data = [numbers] { return random_data(numbers); }});
}

void add_shape_group(ArgParser& parser) {
  parser
      .add_group("Shapes",
                 "NAME:1x3x224x224 or NAME:[1,3,224,224], several with commas or blanks in between. For an "
                 "integer input of rank 0 or 1 and known shape these are its elements.")
      .options = {
      {.names = {"--shapes"},
       .help = "Shapes to run. An input that is named again begins the next set, which gets a row of its "
               "own. Default: "
               "the best shapes of the profile.",
       .arity = Arity::kAtLeastOne},
      {.names = {"--min-shapes", "--minShapes"},
       .help = "The least shapes of the profile.",
       .arity = Arity::kAtLeastOne},
      {.names = {"--opt-shapes", "--optShapes"},
       .help = "The shapes of the profile to be fast at.",
       .arity = Arity::kAtLeastOne},
      {.names = {"--max-shapes", "--maxShapes"},
       .help = "The largest shapes of the profile.",
       .arity = Arity::kAtLeastOne},
      {.names = {"--profile"},
       .help = "The options for least, best and largest shapes that follow are those of profile N.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--use-profile", "--useProfile", "--useOptProfile"},
       .help = "The profile to run with. Default: 0.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--input-formats", "--inputIOFormats"},
       .help = "TYPE:LAYOUT of each input, as in fp32:chw: what the engine does is accepted, row-major (chw) "
               "in the "
               "types of the model.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FORMAT"},
      {.names = {"--output-formats", "--outputIOFormats"},
       .help = "The same of each output.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FORMAT"},
      {.names = {"--load-inputs", "--loadInputs"},
       .help = "NAME:FILE with the elements of an input as they lie in memory. Default: random numbers, "
               "floats from -1 to "
               "1, integers 0 or 1.",
       .arity = Arity::kAtLeastOne},
  };
}

void add_build_group(ArgParser& parser) {
  OptionGroup& group = parser.add_group("Building the engine");
  group.options = {
      {.names = {"--builder-optimization-level", "--builderOptimizationLevel"},
       .help = "0: a model of cost chooses; 1 to 5: measurements choose, the more thoroughly the higher. "
               "Default: 3.",
       .metavar = "LEVEL",
       .kind = ValueKind::kInteger},
      {.names = {"--timing-cache", "--timingCacheFile"},
       .help = "Read what was measured before, if the file exists, and write it with what is measured now.",
       .metavar = "FILE"},
      {.names = {"--error-on-timing-cache-miss", "--errorOnTimingCacheMiss"},
       .help = "Measure nothing: a candidate that the timing cache does not know is an error.",
       .arity = Arity::kNone},
      {.names = {"--workspace"},
       .help =
           "Scratch memory that a step may take, as in 64M. Under the name trtexec a number alone means MiB.",
       .metavar = "SIZE"},
      {.names = {"--mem-pool-size", "--memPoolSize"},
       .help = "workspace:SIZE, the same; a number alone means MiB. Other pools are those of devices.",
       .arity = Arity::kAtLeastOne,
       .metavar = "POOL:SIZE"},
      {.names = {"--fp16"},
       .help = "Weights and other float32 numbers may be stored in float16 where that is faster, and faster "
               "algorithms may round more.",
       .arity = Arity::kNone},
      {.names = {"--bf16"},
       .help = "The same with bfloat16, to which factors of products may be rounded, too.",
       .arity = Arity::kNone},
      {.names = {"--int8"},
       .help = "Products with constant weights may be computed in 8-bit integers, by the scales of --calib. "
               "Without a "
               "file the scales come from one set of random inputs: then only times mean something.",
       .arity = Arity::kNone},
      {.names = {"--calib"},
       .help = "Scales for --int8, as TensorRT's calibrators and assay convert --int8 --calibration-cache "
               "write them.",
       .metavar = "FILE"},
      {.names = {"--best"}, .help = "All of these types; int8 if --calib is given.", .arity = Arity::kNone},
      {.names = {"--strongly-typed", "--stronglyTyped"},
       .help = "All types are those of the network: nothing is computed in others.",
       .arity = Arity::kNone},
      {.names = {"--refit"}, .help = "The weights can be changed later.", .arity = Arity::kNone},
      {.names = {"--strip-weights", "--stripWeights", "--stripAllWeights", "--weightless"},
       .help = "Leave the weights out of the plan. What is run has those of the model.",
       .arity = Arity::kNone},
      {.names = {"--refit-from-onnx", "--refitFromOnnx"},
       .help =
           "Give the engine the weights of an ONNX model, by default that of --onnx, which a plan that "
           "was built with --refit or --strip-weights takes. With --load-engine, --save-engine then writes "
           "the plan with them.",
       .arity = Arity::kOptional,
       .metavar = "FILE"},
      {.names = {"--time-refit", "--timeRefit"}, .help = "Tell how long that takes.", .arity = Arity::kNone},
      {.names = {"--profiling-verbosity", "--profilingVerbosity"},
       .help = "What is told of layers. Default: detailed.",
       .choices = {"none", "layer_names_only", "detailed"}},
      {.names = {"--skip-inference", "--skipInference", "--buildOnly"},
       .help = "Run nothing once the engine is built.",
       .arity = Arity::kNone},
      {.names = {"--explain"},
       .help = "Show, for each part of the network, the ways to run it, their times, and why the others were "
               "refused.",
       .arity = Arity::kNone},
  };
  for (Option& o : layer_type_options(/*as_bench=*/true)) group.options.push_back(std::move(o));
}

void add_run_group(ArgParser& parser, bool as_trtexec) {
  OptionGroup& group = parser.add_group("Running");
  group.options = {
      {.names = {"--warm-up", "--warmUp"},
       .help = "Run so long before anything counts. Default: 200.",
       .metavar = "MS",
       .kind = ValueKind::kNumber},
      {.names = {"--duration"},
       .help = "Measure for so long at least. Default: 3.",
       .metavar = "SECONDS",
       .kind = ValueKind::kNumber},
      {.names = {"--iterations"},
       .help = "Measure so many runs of each stream at least. Default: 10.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--streams", "--infStreams"},
       .help = "So many run at once, in threads of their own: contexts of the engine, sessions of other "
               "backends. "
               "Default: 1.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--record", "--useCudaGraph"},
       .help = "Record a run of the engine and have a stream repeat it.",
       .arity = Arity::kNone},
      {.names = {"--idle-time", "--idleTime"},
       .help = "Sleep behind each run. Default: 0.",
       .metavar = "MS",
       .kind = ValueKind::kNumber},
      {.names = {"--sleep-time", "--sleepTime"},
       .help = "Sleep before each run. Default: 0.",
       .metavar = "MS",
       .kind = ValueKind::kNumber},
      {.names = {as_trtexec ? "--cpuThreads" : "--threads"},
       .help = "Threads of a run. Default: as many as there are processors for this process.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
  };
}

void add_report_group(ArgParser& parser) {
  parser.add_group("Reports", "The files of single runs, layers and outputs are about the first row.")
      .options = {
      {.names = {"--json"}, .help = "Write everything but single runs.", .metavar = "FILE"},
      {.names = {"--avg-runs", "--avgRuns"},
       .help = "Average so many runs in each line of the trace. Default: 10.",
       .metavar = "N",
       .kind = ValueKind::kInteger},
      {.names = {"--percentile"},
       .help = "Percentiles of times. Default: 90, 95, 99.",
       .arity = Arity::kAtLeastOne,
       .metavar = "P"},
      {.names = {"--dump-profile", "--dumpProfile"},
       .help = "Show the time of each layer, in runs of their own.",
       .arity = Arity::kNone},
      {.names = {"--dump-roofline"},
       .help =
           "Show for each layer, in runs of their own, the operations and bytes that it needs, and the least "
           "time that this machine, which is measured for it, takes for them.",
       .arity = Arity::kNone},
      {.names = {"--dump-layer-info", "--dumpLayerInfo"},
       .help = "Show the engine's layers.",
       .arity = Arity::kNone},
      {.names = {"--dump-output", "--dumpOutput"},
       .help = "Show what the last run computed.",
       .arity = Arity::kNone},
      {.names = {"--dump-refit", "--dumpRefit"},
       .help = "List the weights that can be changed.",
       .arity = Arity::kNone},
      {.names = {"--dump-optimization-profile", "--dumpOptimizationProfile"},
       .help = "Show the shapes of the profiles.",
       .arity = Arity::kNone},
      {.names = {"--export-times", "--exportTimes"},
       .help = "Write the times of each run.",
       .metavar = "FILE"},
      {.names = {"--export-profile", "--exportProfile"},
       .help = "Write the times of the layers.",
       .metavar = "FILE"},
      {.names = {"--export-timeline", "--exportTimeline"},
       .help =
           "Write the runs, and runs with their layers, as trace events, which browsers and Perfetto show.",
       .metavar = "FILE"},
      {.names = {"--export-layer-info", "--exportLayerInfo"},
       .help = "Write the engine's layers.",
       .metavar = "FILE"},
      {.names = {"--export-output", "--exportOutput"},
       .help = "Write what the last run computed.",
       .metavar = "FILE"},
  };
}

/// Reads the options of one line.
class Reader {
 public:
  Reader(const ParsedArgs& args, bool as_trtexec) : args_(args), as_trtexec_(as_trtexec) {}

  bench::Options read() {
    bench::Options o;
    read_model(o);
    read_shapes(o);
    read_build(o);
    read_runs(o);
    read_reports(o);
    return o;
  }

 private:
  std::string label(std::string_view name) const {
    for (const Option* given : args_.given())
      if (given->names.front() == name) return given->label();
    return std::string(name);
  }

  int64_t integer(std::string_view name, int64_t otherwise, int64_t least, int64_t most) const {
    if (!args_.has(name)) return otherwise;
    const auto value = args_.integer(name);
    require(value && *value >= least && *value <= most, ErrorCode::kInvalidArgument,
            "{}: {} does not lie between {} and {}", label(name), args_.text(name).value_or(""), least, most);
    return *value;
  }

  /// A time in units of `unit` seconds.
  double seconds(std::string_view name, double otherwise, double unit) const {
    const auto value = args_.number(name);
    if (!value) return otherwise;
    require(*value >= 0 && *value * unit <= kLongest, ErrorCode::kInvalidArgument,
            "{}: {} is not a time that can be waited", label(name), *args_.text(name));
    return *value * unit;
  }

  std::string text(std::string_view name) const { return args_.text(name).value_or(""); }

  /// All words of an option, split at commas.
  std::vector<std::string> items(std::string_view name) const {
    std::vector<std::string> all;
    for (const auto& words : args_.all(name))
      for (const std::string& word : words)
        for (std::string& item : bench::split_list(word)) all.push_back(std::move(item));
    return all;
  }

  static bool is_plan(const std::string& path) {
    char magic[sizeof engine::kMagic] = {};
    std::ifstream file;
    // Opening a pipe would block until it has a writer.
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) file.open(path, std::ios::binary);
    if (file.read(magic, sizeof magic) && std::memcmp(magic, engine::kMagic, sizeof magic) == 0) return true;
    return path.ends_with(".plan") || path.ends_with(".engine") || path.ends_with(".trt");
  }

  void read_model(bench::Options& o) const {
    o.model = text("--onnx");
    o.plan = text("--load-engine");
    if (const std::string path = text("model_file"); !path.empty()) {
      std::string& place = is_plan(path) ? o.plan : o.model;
      require(place.empty(), ErrorCode::kInvalidArgument, "two {} are given: {} and {}",
              is_plan(path) ? "plans" : "models", place, path);
      place = path;
    }
    o.save_plan = text("--save-engine");
    if (args_.has("--backends")) o.backends = items("--backends");
    o.session.library = text("--onnxrt-library");
    o.session.custom_ops = args_.list("--custom-ops").value_or(std::vector<std::string>{});
  }

  /// Options for shapes belong to the last named profile.
  void read_shapes(bench::Options& o) const {
    constexpr const char *kProfile = "--profile", *kMin = "--min-shapes", *kOpt = "--opt-shapes",
                         *kMax = "--max-shapes";
    const std::string names[] = {kProfile, kMin, kOpt, kMax};
    std::map<std::string, size_t> seen;
    std::map<int64_t, bench::ProfileShapes> profiles;
    int64_t current = 0;
    for (const std::string& name : args_.sequence(names)) {
      const std::vector<std::string> words = args_.all(name)[seen[name]++];
      if (name == kProfile) {
        current = python_int(words.at(0)).value_or(-1);
        require(current >= 0, ErrorCode::kInvalidArgument, "--profile: {} is not the number of a profile",
                words[0]);
        continue;
      }
      bench::ProfileShapes& shapes = profiles[current];
      bench::ShapeSet& set = name == kMin ? shapes.min : (name == kOpt ? shapes.opt : shapes.max);
      require(set.empty(), ErrorCode::kInvalidArgument,
              "{} is given twice for profile {}. Say --profile N before the shapes of the next one",
              label(name), current);
      set = bench::parse_shape_set(label(name), words);
    }
    for (auto& [number, shapes] : profiles) {
      require(number == static_cast<int64_t>(o.profiles.size()), ErrorCode::kInvalidArgument,
              "shapes are given for profile {}, but none for profile {}", number, o.profiles.size());
      o.profiles.push_back(std::move(shapes));
    }
    o.profile = static_cast<size_t>(integer("--use-profile", 0, 0, kMaxNumber));
    for (const auto& words : args_.all("--shapes"))
      for (bench::ShapeSet& set : bench::parse_shape_sets("--shapes", words))
        o.shapes.push_back(std::move(set));
    const auto formats = [&](const char* option) {
      return bench::parse_io_formats(label(option), args_.list(option).value_or(std::vector<std::string>()));
    };
    o.input_formats = formats("--input-formats");
    o.output_formats = formats("--output-formats");
    for (const auto& words : args_.all("--load-inputs"))
      for (auto& file : bench::parse_input_files(label("--load-inputs"), words)) {
        open_input(file.second);
        o.inputs.push_back(std::move(file));
      }
  }

  void read_build(bench::Options& o) const {
    o.build.optimization_level =
        static_cast<int>(integer("--builder-optimization-level", BuilderConfig::kDefaultOptimizationLevel, 0,
                                 BuilderConfig::kMaxOptimizationLevel));
    o.build.use_timing_cache_only = args_.has("--error-on-timing-cache-miss");
    if (const auto size = args_.text("--workspace"))
      o.build.workspace_limit = parse_size("--workspace", *size, as_trtexec_ ? kMiB : 1);
    for (const std::string& item : items("--mem-pool-size")) {
      const size_t colon = item.find(':');
      require(colon != std::string::npos, ErrorCode::kInvalidArgument,
              "{}: '{}' is not of the form POOL:SIZE", label("--mem-pool-size"), item);
      const int64_t bytes = parse_size(label("--mem-pool-size"), item.substr(colon + 1), kMiB);
      if (item.substr(0, colon) == "workspace")
        o.build.workspace_limit = bytes;
      else
        log::warning("{}: the pool '{}' is one of a device that there is none of; it has no effect.",
                     label("--mem-pool-size"), item.substr(0, colon));
    }
    o.build.fp16 = args_.has("--fp16") || args_.has("--best");
    o.build.bf16 = args_.has("--bf16") || args_.has("--best");
    const std::string scales = text("--calib");
    o.build.int8 = args_.has("--int8") || (args_.has("--best") && !scales.empty());
    if (o.build.int8) o.build.calibrator = scales.empty() ? random_scales() : cached_scales(scales);
    read_layer_types(args_, as_trtexec_, /*as_bench=*/true, o.build);
    apply_strong_types(args_, as_trtexec_ ? "--stronglyTyped" : "--strongly-typed", as_trtexec_, o.build);
    o.build.is_refittable = args_.has("--refit");
    o.build.strips_weights = args_.has("--strip-weights");
    o.timing_cache = text("--timing-cache");
    o.skips_inference = args_.has("--skip-inference");
    o.refits = args_.has("--refit-from-onnx");
    o.refit_model = text("--refit-from-onnx");
    o.times_refit = args_.has("--time-refit");
    o.explains = args_.has("--explain");
    o.is_verbose = log::enabled(log::Severity::kVerbose);
    const std::string detail = text("--profiling-verbosity");
    if (detail == "none") o.detail = bench::LayerDetail::kNone;
    if (detail == "layer_names_only") o.detail = bench::LayerDetail::kNames;
  }

  void read_runs(bench::Options& o) const {
    o.warm_up = seconds("--warm-up", o.warm_up, 1e-3);
    o.duration = seconds("--duration", o.duration, 1);
    o.iterations = integer("--iterations", o.iterations, 0, kMaxNumber);
    o.streams = integer("--streams", o.streams, 1, 1024);
    o.is_recorded = args_.has("--record");
    o.idle = seconds("--idle-time", 0, 1e-3);
    o.sleep = seconds("--sleep-time", 0, 1e-3);
    o.session.threads = static_cast<int>(integer(as_trtexec_ ? "--cpuThreads" : "--threads", 0, 1, 4096));
  }

  void read_reports(bench::Options& o) const {
    o.average_runs = integer("--avg-runs", o.average_runs, 1, kMaxNumber);
    if (args_.has("--percentile")) {
      o.percentiles.clear();
      for (const std::string& item : items("--percentile")) {
        const auto percent = python_float(item);
        require(percent && *percent >= 0 && *percent <= 100, ErrorCode::kInvalidArgument,
                "--percentile: '{}' is not a number from 0 to 100", item);
        o.percentiles.push_back(*percent);
      }
    }
    o.dumps_profile = args_.has("--dump-profile");
    o.dumps_roofline = args_.has("--dump-roofline");
    o.dumps_layers = args_.has("--dump-layer-info");
    o.dumps_output = args_.has("--dump-output");
    o.dumps_weights = args_.has("--dump-refit");
    o.dumps_profiles = args_.has("--dump-optimization-profile");
    o.export_times = text("--export-times");
    o.export_profile = text("--export-profile");
    o.export_timeline = text("--export-timeline");
    o.export_layers = text("--export-layer-info");
    o.export_output = text("--export-output");
    o.json = text("--json");
  }

  const ParsedArgs& args_;
  bool as_trtexec_;
};

}  // namespace

void add_bench_options(ArgParser& parser, bool as_trtexec) {
  add_model_group(parser);
  add_shape_group(parser);
  add_build_group(parser);
  add_run_group(parser, as_trtexec);
  add_report_group(parser);
  add_route_options(parser);
  add_ignored_bench_options(parser, as_trtexec);
}

bench::Options read_bench_options(const ParsedArgs& args, bool as_trtexec) {
  warn_of_ignored_bench_options(args);
  return Reader(args, as_trtexec).read();
}

int64_t parse_size(const std::string& option, const std::string& text, int64_t unit) {
  std::string number = text, suffix;
  while (!number.empty() && std::isalpha(static_cast<unsigned char>(number.back())) != 0) {
    suffix.insert(suffix.begin(), static_cast<char>(std::toupper(static_cast<unsigned char>(number.back()))));
    number.pop_back();
  }
  int power = -1;
  const std::string_view letters = "KMG";
  if (suffix == "B") power = 0;
  for (size_t i = 0; i < letters.size(); ++i)
    if (const std::string letter(1, letters[i]);
        suffix == letter || suffix == letter + "B" || suffix == letter + "IB")
      power = static_cast<int>(i) + 1;
  const auto value = python_float(number);
  const double bytes = value.value_or(-1) * (suffix.empty() ? static_cast<double>(unit)
                                                            : std::ldexp(1.0, 10 * std::max(power, 0)));
  require(value && (suffix.empty() || power >= 0) && bytes >= 0 && bytes < 9e18, ErrorCode::kInvalidArgument,
          "{}: '{}' is not a size. Expected a number, perhaps followed by B, K, M or G", option, text);
  return static_cast<int64_t>(bytes);
}

}  // namespace assay::cli
