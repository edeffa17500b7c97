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

/// The requests of the build-route options, in addition to a run of the benchmark.
struct RouteTuning {
  bool shows_knobs = false;
  std::string shown_knob;  ///< empty: all
  std::string expression;  ///< empty: nothing is tuned
  RouteSearch search = RouteSearch::kFast;
  double seconds = -1;  ///< after which no further route is begun; negative: no limit
  std::string cache;    ///< a file that gets a line for each route; empty: none
  bool continues = false, dry = false, saves_all = false;

  bool tunes() const { return !expression.empty(); }
};

/// Throws Error for options that contradict each other, and for a file that cannot be read.
RouteTuning read_route_tuning(const ParsedArgs& args);
/// Applies --setBuildRoute.
void apply_set_route(const ParsedArgs& args, const RouteKnobs& knobs, BuilderConfig& config);

/// The words of the command line that created a tuning cache. Throws Error naming the file.
std::vector<std::string> words_of_tuning_cache(const std::string& path);
/// Quotes arguments as words of a command line.
std::vector<std::string> words_of(const ParsedArgs& args);

/// The run time of an engine built by a route, in milliseconds. Throws Error when it cannot be built or run.
using MeasureRoute = std::function<double(const BuildRoute& route, size_t number)>;

/// Tries routes in order and logs the results; routes in the cache are not tried again. `keep` is called with
/// the number of each route that is faster than all earlier ones. `words`: for the cache. Returns the best
/// route. Throws Error when none could be run.
BuildRoute tune_routes(const RouteTuning& tuning, const RouteKnobs& knobs,
                       const std::vector<std::string>& words, const MeasureRoute& measure,
                       const std::function<void(size_t number)>& keep);

}  // namespace assay::cli
