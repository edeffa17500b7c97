// Building and timing an engine by one build route after another (trtexec --tuneBuildRoutes).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/options.h"
#include "cli/args.h"
#include "cli/build_route.h"

namespace assay::cli {

void add_route_options(ArgParser& parser);

/// What the options for build routes ask for beside a run of the benchmark.
struct RouteTuning {
  bool shows_knobs = false;
  std::string shown_knob;  ///< empty: all
  std::string expression;  ///< empty: nothing is tuned
  RouteSearch search = RouteSearch::kFast;
  double seconds = -1;  ///< after which no other route is begun; negative: any time
  std::string cache;    ///< a file that gets a line for each route; empty: none
  bool continues = false, dry = false, saves_all = false;

  bool tunes() const { return !expression.empty(); }
};

/// Throws Error for options that contradict each other, and for a file that cannot be read.
RouteTuning read_route_tuning(const ParsedArgs& args);
/// Applies --setBuildRoute.
void apply_set_route(const ParsedArgs& args, const RouteKnobs& knobs, BuilderConfig& config);

/// The words of the command line that a tuning cache was begun with. Throws Error naming the file.
std::vector<std::string> words_of_tuning_cache(const std::string& path);
/// Words that stand for these arguments.
std::vector<std::string> words_of(const ParsedArgs& args);

/// The time of a build by a route, in milliseconds. Throws Error when it cannot be built or run.
using MeasureRoute = std::function<double(const BuildRoute& route, size_t number)>;

/// Tries route after route, with lines that tell of it; what has been tried by the cache is not tried again.
/// `keep` is called with the number of each route that is faster than all before. `words`: for the cache. The
/// best route. Throws Error when none could be run.
BuildRoute tune_routes(const RouteTuning& tuning, const RouteKnobs& knobs,
                       const std::vector<std::string>& words, const MeasureRoute& measure,
                       const std::function<void(size_t number)>& keep);

}  // namespace assay::cli
