// assay bench: how fast a model runs. Under the name trtexec it is the whole program.
#include "bench/bench.h"
#include "cli/bench_options.h"
#include "cli/command.h"
#include "cli/option_effects.h"
#include "cli/option_paths.h"
#include "cli/options/logging.h"
#include "cli/registries.h"

namespace assay::cli::command_bench {
namespace {

int run(CommandContext& context) {
  bench::Options options = read_bench_options(context.args(), is_trtexec(context.invocation()));
  options.backend_set = &context.registries().backends;
  context.registries().give_to(options.session);
  check_option_paths(context.args(), check_bench_effects(context.args(), options));
  context.announce();
  bench::run_bench(options, context.invocation().command_line);
  return 0;
}

void add_options(ArgParser& parser) {
  add_bench_options(parser, /*as_trtexec=*/false);
  add_logging_options(parser);
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "bench",
    .summary = "Measure how fast a model runs.",
    .description =
        "Builds an engine from an ONNX model or loads the plan of one, runs it on random inputs and tells "
        "throughput, "
        "latency and the time of each layer, in the words of TensorRT's trtexec, whose options it takes, "
        "too. Several "
        "backends and several shapes are measured in one go, in turns, so that they share what happens on "
        "the machine.",
    .add_options = add_options,
    .run = run,
    .checks_paths = true,
};

}  // namespace assay::cli::command_bench
