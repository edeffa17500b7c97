#include "assay/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/crash_report.h"
#include "base/log.h"
#include "base/log_format.h"
#include "base/memory_limit.h"
#include "base/thread_pool.h"
#include "console/failure.h"
#include "console/run_frame.h"
#include "console/terminal.h"
#include "console/text_renderer.h"
#include "console/wording.h"
#include "poly/accuracy.h"
#include "poly/run_extensions.h"
#include "poly/run_parts.h"
#include "view/error_pictures.h"

namespace assay::poly {
namespace {

log::Config log_config(const RunLog& log) {
  log::Config config;
  for (const std::string& value : log.verbosity) log::add_verbosity(config, value);
  config.timestamp = log.timestamp;
  config.line_info = log.line_info;
  config.colors = log.colors;
  config.file = log.file;
  return config;
}

void prepare_process(const RunSettings& settings) {
  if (settings.log) log::configure(log_config(*settings.log));
  if (settings.memory_limit) set_memory_limit(*settings.memory_limit);
}

RunSummary summary_of(const RunReport& report) {
  RunSummary summary{.outcome = static_cast<RunSummary::Outcome>(report.outcome),
                     .iterations = report.iterations,
                     .accuracy = accuracy_of(report.pairs)};
  for (const RunnerReport& r : report.runners) summary.runners.push_back(r.name);
  for (const ValidationResult& v : report.invalid) summary.invalid.push_back(v.runner + "/" + v.output);
  for (size_t v = 0; v < std::size(report.verdicts.of); ++v)
    if (report.verdicts.of[v] > 0)
      summary.verdicts[std::string(verdict_name(static_cast<Verdict>(v)))] = report.verdicts.of[v];
  return summary;
}

/// Logs a run, and asks the program whether to continue.
class WatchedRenderer final : public TextRenderer {
 public:
  WatchedRenderer(std::shared_ptr<ErrorPictures> pictures, const std::function<void()>& on_step)
      : TextRenderer(std::move(pictures)), on_step_(on_step) {}

  void on_inputs(const InputsEvent& e) override {
    TextRenderer::on_inputs(e);
    step();
  }
  void on_outputs(const OutputsEvent& e) override {
    TextRenderer::on_outputs(e);
    step();
  }
  void on_iteration(int64_t index) override {
    TextRenderer::on_iteration(index);
    step();
  }

 private:
  void step() const {
    if (on_step_) on_step_();
  }
  const std::function<void()>& on_step_;
};

/// Once the process is prepared; `begin` is called when the settings are validated.
RunSummary run_prepared(const RunSettings& settings, const std::function<void()>& begin) {
  const RunModules modules(settings);
  const assay::RunOptions options = run_options(settings, modules.registries(), modules.model_edits());
  WatchedRenderer renderer(error_pictures_of(settings.save), settings.on_step);
  begin();
  return summary_of(assay::run(options, renderer));
}

/// Opens /dev/null for standard streams that the caller closed: otherwise the next opened file would get
/// their descriptor.
void open_standard_streams() {
  int fd;
  do fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) ::close(fd);
}

void own_process() {
  open_standard_streams();
  open_terminal_log();
  use_words_of_options(/*as_trtexec=*/false);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  install_interrupt_cleanup();
  report_crashes();
  report_lost_exceptions();
}

}  // namespace

assay::RunOptions run_options(const RunSettings& s, const extension::Registries& registries,
                              const ModelEdits& edits) {
  assay::RunOptions options;
  options.session = s.session;
  registries.give_to(options.session);
  options.model = model_loader_options(s.model);
  options.model.import.ops = registries.ops;
  options.model.edits.insert(options.model.edits.begin(), edits.begin(), edits.end());
  const EngineBuildOptions building = engine_building(s.engine, s.data);
  options.asked = set_engine(building, options.session);
  options.arbitrate = s.verdict.judge || !s.save.verdict.empty();
  for (const RunRunner& r : s.runners) {
    options.runners.push_back(runner_choice(r, registries.backends, building));
    options.arbitrate = options.arbitrate || options.runners.back().backend->is_oracle;
  }
  options.session.judged = options.arbitrate;
  options.data = random_data_options(s.data);
  options.load_inputs = s.data.load_inputs;
  options.source = own_data(s.data);
  options.save_inputs = s.save.inputs;
  options.save_outputs = s.save.outputs;
  options.save_input_blobs = s.save.input_blobs;
  options.save_accuracy_results = s.save.accuracy_results;
  options.save_verdict = s.save.verdict;
  options.sequential_runners = s.sequential_runners;
  options.warm_up = s.warm_up;
  options.use_subprocess = s.use_subprocess;
  options.load_outputs = s.load_outputs;
  if (s.postprocess) options.postprocess = s.postprocess->function();
  for (const CompareFunc& f : s.compare_funcs) options.functions.push_back(f.function());
  for (const std::string& name : s.extensions.compare_funcs)
    options.functions.push_back(module_comparison(registries, name));
  if (!s.extensions.postprocess.empty())
    options.postprocess = module_postprocess(registries, s.extensions.postprocess);
  options.fail_fast = s.fail_fast;
  options.check_average = s.check_average;
  options.validate = s.validate;
  options.arbiter.samples = s.verdict.samples;
  options.arbiter.most_samples = s.verdict.most_samples;
  require_excuses(s.verdict.no_excuses);
  options.arbiter.no_excuses = s.verdict.no_excuses;
  options.trace = s.verdict.trace;
  options.partial = s.verdict.partial;
  options.comparison_chosen = s.verdict.comparison_counts;
  return options;
}

std::shared_ptr<ErrorPictures> error_pictures_of(const RunSaving& saving) {
  const bool draws = !saving.heatmaps.empty() || !saving.error_plots.empty();
  return draws ? error_pictures(saving.heatmaps, saving.error_plots) : nullptr;
}

RunSummary run(const RunSettings& settings) {
  prepare_process(settings);
  const PoolScope threads(PoolScope::current() != nullptr ? PoolScope::current()
                                                          : std::make_shared<ThreadPool>());
  return run_prepared(settings, [] {});
}

int run_main(int argc, const char* const* argv, const std::function<void(RunSettings&)>& describe) {
  const auto start = std::chrono::steady_clock::now();
  own_process();
  const PoolScope threads(std::make_shared<ThreadPool>());
  std::string command;
  for (int i = 0; i < argc; ++i) command += (i == 0 ? "" : " ") + std::string(argv[i]);
  bool has_begun = false, expected = true;
  int status = 1;
  try {
    RunSettings settings;
    describe(settings);
    prepare_process(settings);
    status = run_prepared(settings, [&] {
               has_begun = true;
               print_begin(command);
             }).exit_status();
  } catch (...) {
    expected = report_exception();
  }
  if (has_begun && expected) {
    print_end(status, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              command);
  }
  return close_terminal_log(status);
}

}  // namespace assay::poly
