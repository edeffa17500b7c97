#include "cli/route_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mapped_file.h"

namespace assay::cli {
namespace {

constexpr const char *kTune = "--tune-build-routes", *kTuneFile = "--tune-build-route-file",
                     *kCacheFile = "--tuning-cache-file", *kContinue = "--continue", *kDry = "--dry-run",
                     *kHelp = "--help-build-route", *kSet = "--set-build-route";

/// A route that was tried.
struct Tried {
  std::string route;
  double milliseconds = 0;
  std::string failure;  ///< empty: it ran
};

/// The file of a tuning: a line for the command, one for each route. It is rewritten atomically after each.
class TuningCache {
 public:
  TuningCache(std::string path, const std::vector<std::string>& words) : path_(std::move(path)) {
    JsonWriter json([&](std::string_view piece) { text_ += piece; }, JsonStyle::kScript);
    json.begin_object().key("command").begin_array();
    for (const std::string& w : words) json.value(w);
    json.end_array().end_object();
    text_ += "\n";
  }
  void add(const Tried& tried) {
    JsonWriter json([&](std::string_view piece) { text_ += piece; }, JsonStyle::kScript);
    json.begin_object().key("route").value(tried.route);
    if (tried.failure.empty())
      json.key("milliseconds").value(tried.milliseconds);
    else
      json.key("failure").value(tried.failure);
    json.end_object();
    text_ += "\n";
  }
  void save() const {
    if (path_.empty()) return;
    AtomicFile file(path_);
    file.write(text_);
    file.commit();
  }

 private:
  std::string path_, text_;
};

std::vector<std::string> strings(JsonReader& json) {
  std::vector<std::string> list;
  json.expect(JsonEvent::kBeginArray, "the command");
  while (json.next_element()) list.emplace_back(json.expect_string("a word of the command"));
  return list;
}

struct CacheFile {
  std::vector<std::string> words;
  std::vector<Tried> tried;
};

CacheFile read_cache(const std::string& path) {
  CacheFile file;
  const auto mapped = MappedFile::open(path);
  std::string_view rest = mapped->bytes();
  for (int line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    JsonReader json(rest.substr(0, end), fmt::format("line {} of {}", line, path));
    Tried tried;
    json.expect(JsonEvent::kBeginObject, "a line of a tuning cache");
    while (json.next_key()) {
      const std::string key(json.string());
      if (line == 1 && key == "command")
        file.words = strings(json);
      else if (key == "route")
        tried.route = json.expect_string("a route");
      else if (key == "milliseconds")
        tried.milliseconds = json.expect_double("a time");
      else if (key == "failure")
        tried.failure = json.expect_string("a failure");
      else
        json.skip_value();
    }
    if (line > 1) file.tried.push_back(std::move(tried));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  require(!file.words.empty(), ErrorCode::kInvalidArgument,
          "{} is no tuning cache: its first line has no command", path);
  return file;
}

/// Tries routes and records the results.
class Tuner {
 public:
  Tuner(const RouteTuning& tuning, const std::vector<std::string>& words, const MeasureRoute& measure,
        const std::function<void(size_t)>& keep)
      : tuning_(tuning), cache_(tuning.cache, words), measure_(measure), keep_(keep) {
    if (!tuning.continues) return;
    for (Tried& tried : read_cache(tuning.cache).tried) {
      cache_.add(tried);
      known_.push_back(std::move(tried));
    }
    log::info("{} routes are in {} already.", known_.size(), tuning.cache);
  }

  void run(const std::vector<BuildRoute>& routes) {
    for (const BuildRoute& route : routes) {
      if (is_late()) {
        log::warning("--tuningTimeOut: the time is over; {} of {} routes were tried.", results_.size(),
                     routes.size());
        return;
      }
      const std::string text = route_text(route);
      if (std::any_of(results_.begin(), results_.end(), [&](const Tried& t) { return t.route == text; }))
        continue;
      try_route(route, text);
    }
  }

  /// By route; null: it was not tried, or failed.
  const Tried* result(const BuildRoute& route) const {
    const std::string text = route_text(route);
    for (const Tried& t : results_)
      if (t.route == text && t.failure.empty()) return &t;
    return nullptr;
  }

  BuildRoute best(const std::vector<BuildRoute>& routes) const {
    const BuildRoute* found = nullptr;
    for (const BuildRoute& route : routes)
      if (result(route) != nullptr &&
          (found == nullptr || result(route)->milliseconds < result(*found)->milliseconds))
        found = &route;
    if (found == nullptr)
      fail(ErrorCode::kUnsupported, "no route could be built and run; the first failed: {}",
           results_.empty() ? "none was tried" : results_.front().failure);
    return *found;
  }

 private:
  bool is_late() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    return tuning_.seconds >= 0 && !results_.empty() && passed.count() >= tuning_.seconds;
  }

  void try_route(const BuildRoute& route, const std::string& text) {
    const size_t number = results_.size();
    const auto known =
        std::find_if(known_.begin(), known_.end(), [&](const Tried& t) { return t.route == text; });
    Tried tried{.route = text};
    if (known != known_.end()) {
      tried = *known;
      log::info("Route {}: {} (from {})", number, text, tuning_.cache);
    } else {
      log::start("Route {}: {}", number, text);
      try {
        tried.milliseconds = measure_(route, number);
      } catch (const Error& e) {
        tried.failure = e.what();
      }
      cache_.add(tried);
    }
    if (!tried.failure.empty())
      log::warning("Route {} failed: {}", number, tried.failure);
    else
      log::info("Route {}: median latency = {:.6g} ms", number, tried.milliseconds);
    const bool is_best = tried.failure.empty() && tried.milliseconds < least_;
    if (is_best) least_ = tried.milliseconds;
    results_.push_back(std::move(tried));
    cache_.save();
    if (is_best && known == known_.end()) keep_(number);
  }

  const RouteTuning& tuning_;
  TuningCache cache_;
  const MeasureRoute& measure_;
  const std::function<void(size_t)>& keep_;
  std::vector<Tried> known_, results_;
  double least_ = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The knobs with a non-default value that was faster than the first route, which has all defaults.
std::vector<const RouteKnob*> faster_knobs(const Tuner& tuner, const std::vector<BuildRoute>& routes) {
  std::vector<const RouteKnob*> knobs;
  const Tried* const baseline = tuner.result(routes.front());
  for (const BuildRoute& route : routes) {
    const Tried* const tried = tuner.result(route);
    if (tried == nullptr || (baseline != nullptr && tried->milliseconds >= baseline->milliseconds)) continue;
    for (size_t i = 0; i < route.size(); ++i)
      if (route[i].second != routes.front()[i].second) knobs.push_back(route[i].first);
  }
  return knobs;
}

}  // namespace

void add_route_options(ArgParser& parser) {
  parser
      .add_group(
          "Build routes",
          "A route says which of the builder's choices an engine is built with: -KNOB=VALUE, several with "
          "blanks in between. Knobs are the tactics and passes of the builder and its optimization level.")
      .options = {
      {.names = {kHelp, "--helpBuildRoute"},
       .help = "Print the knobs as JSON, or one of them, and end.",
       .arity = Arity::kOptional,
       .metavar = "KNOB"},
      {.names = {kSet, "--setBuildRoute"}, .help = "Build the engine by this route.", .metavar = "ROUTE"},
      {.names = {kTune, "--tuneBuildRoutes"},
       .help =
           "Build and time an engine by each route of an expression, where a knob may have several values: "
           "-KNOB=[VALUE|VALUE]. The fastest is saved.",
       .metavar = "EXPRESSION"},
      {.names = {kTuneFile, "--tuneBuildRouteFile"},
       .help = "The same with the expression in a file, on any number of lines.",
       .metavar = "FILE"},
      {.names = {"--tuning-search", "--tuningSearch"},
       .help =
           "fast: change one knob at a time; full: every combination; mixed: fast, then every combination of "
           "the knobs that helped. Default: fast.",
       .choices = {"fast", "full", "mixed"}},
      {.names = {"--tuning-time-out", "--tuningTimeOut"},
       .help = "Begin no other route after so many seconds; -1: never stop, the default.",
       .metavar = "SECONDS",
       .kind = ValueKind::kNumber},
      {.names = {kCacheFile, "--tuningCacheFile"},
       .help = "Write what came out of each route to this file, a line of JSON each.",
       .metavar = "FILE"},
      {.names = {kContinue},
       .help = "Go on with the tuning whose file --tuning-cache-file is.",
       .arity = Arity::kNone},
      {.names = {kDry, "--dryRun"}, .help = "List the routes, and end.", .arity = Arity::kNone},
      {.names = {"--save-all-engines", "--saveAllEngines"},
       .help = "Save the engine of each route, too, as FILE.iterN next to the FILE of --save-engine.",
       .arity = Arity::kNone},
  };
}

RouteTuning read_route_tuning(const ParsedArgs& args) {
  RouteTuning tuning;
  tuning.shows_knobs = args.has(kHelp);
  tuning.shown_knob = args.text(kHelp).value_or("");
  tuning.expression = args.text(kTune).value_or("");
  require(!args.has(kTune) || !args.has(kTuneFile), ErrorCode::kInvalidArgument,
          "--tuneBuildRoutes and --tuneBuildRouteFile are both given; one of them says what to try");
  if (const auto file = args.text(kTuneFile))
    tuning.expression = std::string(MappedFile::open(*file)->bytes());
  require((!args.has(kTune) && !args.has(kTuneFile)) || tuning.expression.find('-') != std::string::npos,
          ErrorCode::kInvalidArgument, "{}: no knob is given",
          args.has(kTune) ? "--tuneBuildRoutes" : "--tuneBuildRouteFile");
  const std::string search = args.text("--tuning-search").value_or("fast");
  tuning.search = search == "full"    ? RouteSearch::kFull
                  : search == "mixed" ? RouteSearch::kMixed
                                      : RouteSearch::kFast;
  tuning.seconds = args.number("--tuning-time-out").value_or(-1);
  tuning.cache = args.text(kCacheFile).value_or("");
  tuning.continues = args.has(kContinue);
  tuning.dry = args.has(kDry);
  tuning.saves_all = args.has("--save-all-engines");
  require(!tuning.continues || !tuning.cache.empty(), ErrorCode::kInvalidArgument,
          "--continue goes on with a tuning cache: name it with --tuningCacheFile");
  require(!tuning.dry || tuning.search != RouteSearch::kMixed, ErrorCode::kInvalidArgument,
          "--dryRun cannot list the routes of --tuningSearch=mixed, which depend on times");
  require(!tuning.saves_all || args.has("--save-engine"), ErrorCode::kInvalidArgument,
          "--saveAllEngines needs --saveEngine: the engines are called FILE.iterN");
  if (!tuning.tunes() && !tuning.continues)
    for (const char* option :
         {"--tuning-search", "--tuning-time-out", kCacheFile, kDry, "--save-all-engines"})
      if (args.has(option))
        log::warning("{} has no effect without --tuneBuildRoutes or --tuneBuildRouteFile.", option);
  return tuning;
}

void apply_set_route(const ParsedArgs& args, const RouteKnobs& knobs, BuilderConfig& config) {
  if (const auto route = args.text(kSet)) apply_route(knobs.parse_route("--setBuildRoute", *route), config);
}

std::vector<std::string> words_of_tuning_cache(const std::string& path) { return read_cache(path).words; }

std::vector<std::string> words_of(const ParsedArgs& args) {
  std::vector<std::string> words;
  for (const GivenOption& given : args.occurrences()) {
    const bool is_option = given.name.starts_with('-');
    if (is_option && given.words.size() == 1) {
      words.push_back(given.name + "=" + given.words.front());
      continue;
    }
    if (is_option) words.push_back(given.name);
    words.insert(words.end(), given.words.begin(), given.words.end());
  }
  return words;
}

BuildRoute tune_routes(const RouteTuning& tuning, const RouteKnobs& knobs,
                       const std::vector<std::string>& words, const MeasureRoute& measure,
                       const std::function<void(size_t)>& keep) {
  const std::vector<RouteChoice> choices = knobs.parse("--tuneBuildRoutes", tuning.expression);
  std::vector<BuildRoute> routes = expand_routes(choices, tuning.search);
  log::info("{} routes are tried.", routes.size());
  Tuner tuner(tuning, words, measure, keep);
  tuner.run(routes);
  if (tuning.search == RouteSearch::kMixed) {
    const std::vector<const RouteKnob*> faster = faster_knobs(tuner, routes);
    const std::vector<BuildRoute> more = expand_routes(only_these_vary(choices, faster), RouteSearch::kFull);
    tuner.run(more);
    routes.insert(routes.end(), more.begin(), more.end());
  }
  BuildRoute best = tuner.best(routes);
  log::finish("The best route: {} ({:.6g} ms; as --setBuildRoute it is built again)", route_text(best),
              tuner.result(best)->milliseconds);
  return best;
}

}  // namespace assay::cli
