// Build routes as in trtexec 11.1: textual specifications of the builder's choices for an engine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/builder.h"
#include "engine/tactics/tactic_set.h"
#include "passes/pass_set.h"

namespace assay::cli {

/// One choice: `-tactic:gemv`, `-pass:fuse_pad`, `-optimization_level`.
struct RouteKnob {
  std::string name;
  std::vector<std::string> values;
  std::string default_value, help;
};

/// A value for some of the knobs; the others keep their default.
using BuildRoute = std::vector<std::pair<const RouteKnob*, std::string>>;
/// `-a=on -b=off`.
std::string route_text(const BuildRoute& route);

/// The values of one knob in an expression such as `-a=[on|off] -b=off`: one, or several to try.
struct RouteChoice {
  const RouteKnob* knob;
  std::vector<std::string> values;
  bool is_fixed = false;
};

/// The strategy of trying routes of an expression.
enum class RouteSearch : uint8_t {
  kFast,   ///< the route of all defaults, then one changed knob at a time
  kFull,   ///< every combination
  kMixed,  ///< kFast, then every combination of the knobs that were beneficial
};

/// The knobs of a build: every tactic and pass that can be disabled, and the optimization level.
class RouteKnobs {
 public:
  RouteKnobs(const engine::TacticSet& tactics, const PassSet& passes);
  RouteKnobs(const RouteKnobs&) = delete;
  RouteKnobs& operator=(const RouteKnobs&) = delete;

  /// Describes all knobs, or one, whose dash may be omitted. Throws Error (kNotFound) naming `option`.
  std::string json(const std::string& option, std::string_view only = {}) const;
  /// Throws Error (kInvalidArgument, kNotFound) that names `option`.
  std::vector<RouteChoice> parse(const std::string& option, std::string_view expression) const;
  /// The same for a single route.
  BuildRoute parse_route(const std::string& option, std::string_view text) const;

 private:
  const RouteKnob& find(const std::string& option, std::string_view name) const;
  std::vector<RouteKnob> knobs_;
};

/// Throws Error (kInvalidArgument) when there are more than `most`. kMixed: as kFast.
std::vector<BuildRoute> expand_routes(const std::vector<RouteChoice>& choices, RouteSearch search,
                                      size_t most = 100'000);
/// The expression with all but these knobs at their defaults.
std::vector<RouteChoice> only_these_vary(std::vector<RouteChoice> choices,
                                         const std::vector<const RouteKnob*>& knobs);

/// Applies a route to a configuration.
void apply_route(const BuildRoute& route, BuilderConfig& config);

}  // namespace assay::cli
