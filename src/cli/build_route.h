// Build routes, as trtexec 11.1 has them: which of the builder's choices an engine is built with, in words.
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

/// What an expression such as `-a=[on|off] -b=off` says of one knob: one value, or several to be tried.
struct RouteChoice {
  const RouteKnob* knob;
  std::vector<std::string> values;
  bool is_fixed = false;
};

/// Which routes of an expression are tried.
enum class RouteSearch : uint8_t {
  kFast,   ///< the one of all defaults, then one knob at a time changed
  kFull,   ///< every combination
  kMixed,  ///< kFast, then every combination of the knobs that have made it faster
};

/// The knobs of a build: every tactic and every pass that can be left out, and the optimization level.
class RouteKnobs {
 public:
  RouteKnobs(const engine::TacticSet& tactics, const PassSet& passes);
  RouteKnobs(const RouteKnobs&) = delete;
  RouteKnobs& operator=(const RouteKnobs&) = delete;

  /// Of all knobs, or of one, whose dash may be left out. Throws Error (kNotFound) naming `option`.
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

/// Sets what the route says.
void apply_route(const BuildRoute& route, BuilderConfig& config);

}  // namespace assay::cli
