#include "cli/build_route.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "assay/error.h"
#include "assay/version.h"
#include "base/json_writer.h"
#include "cli/args.h"

namespace assay::cli {
namespace {

constexpr std::string_view kTactic = "-tactic:", kPass = "-pass:", kLevel = "-optimization_level";

RouteKnob on_or_off(std::string_view kind, std::string_view name, std::string_view summary) {
  return {.name = std::string(kind) + std::string(name),
          .values = {"on", "off"},
          .default_value = "on",
          .help = std::string(summary)};
}

/// Splits at blanks and line ends.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

std::vector<std::string> alternatives(std::string_view list) {
  std::vector<std::string> values;
  while (true) {
    const size_t bar = std::min(list.find('|'), list.size());
    if (bar > 0) values.emplace_back(list.substr(0, bar));
    if (bar == list.size()) return values;
    list.remove_prefix(bar + 1);
  }
}

}  // namespace

std::string route_text(const BuildRoute& route) {
  std::string text;
  for (const auto& [knob, value] : route)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", knob->name, value);
  return text;
}

RouteKnobs::RouteKnobs(const engine::TacticSet& tactics, const PassSet& passes) {
  RouteKnob level{.name = std::string(kLevel),
                  .values = {},
                  .default_value = std::to_string(BuilderConfig::kDefaultOptimizationLevel),
                  .help = "How thoroughly tactics are chosen; 0: by a model of cost."};
  for (int i = 0; i <= BuilderConfig::kMaxOptimizationLevel; ++i) level.values.push_back(std::to_string(i));
  knobs_.push_back(std::move(level));
  for (const engine::TacticDef* t : tactics.all()) knobs_.push_back(on_or_off(kTactic, t->name, t->summary));
  for (const PassStage stage :
       {PassStage::kCanonical, PassStage::kSpecialize, PassStage::kOpen, PassStage::kIdioms})
    for (const PassDef* p : passes.stage(stage)) {
      RouteKnob knob = on_or_off(kPass, p->name, p->summary);
      const bool is_known =
          std::any_of(knobs_.begin(), knobs_.end(), [&](const RouteKnob& k) { return k.name == knob.name; });
      if (!is_known) knobs_.push_back(std::move(knob));
    }
}

const RouteKnob& RouteKnobs::find(const std::string& option, std::string_view name) const {
  const std::string full = name.starts_with('-') ? std::string(name) : "-" + std::string(name);
  const auto it =
      std::find_if(knobs_.begin(), knobs_.end(), [&](const RouteKnob& k) { return k.name == full; });
  if (it != knobs_.end()) return *it;
  std::vector<std::string> names;
  for (const RouteKnob& k : knobs_) names.push_back(k.name);
  const std::string near = nearest_name(full, names);
  fail(ErrorCode::kNotFound,
       "{}: the builder of this program has no knob '{}'.{} Its knobs are its tactics, its passes and "
       "-optimization_level, not TensorRT's; --helpBuildRoute lists them",
       option, full, near.empty() ? "" : fmt::format(" Did you mean {}?", near));
}

std::string RouteKnobs::json(const std::string& option, std::string_view only) const {
  const RouteKnob* const chosen = only.empty() ? nullptr : &find(option, only);
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object().key("tuner_version").value(kVersion).key("tuner_options").begin_array();
  for (const RouteKnob& k : knobs_) {
    if (chosen != nullptr && &k != chosen) continue;
    json.begin_object().key("option").value(k.name);
    json.key("allowed_values").value(fmt::format("{}=[{}]", k.name, fmt::join(k.values, "|")));
    json.key("default_value").value(k.default_value).key("help").value(k.help).end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

std::vector<RouteChoice> RouteKnobs::parse(const std::string& option, std::string_view expression) const {
  std::vector<RouteChoice> choices;
  for (const std::string_view word : words_of(expression)) {
    const size_t equals = word.find('=');
    require(word.starts_with('-') && equals != std::string_view::npos && equals + 1 < word.size(),
            ErrorCode::kInvalidArgument, "{}: '{}' is not of the form -KNOB=VALUE or -KNOB=[VALUE|VALUE]",
            option, word);
    std::string_view values = word.substr(equals + 1);
    const bool is_list = values.starts_with('[');
    require(!is_list || values.ends_with(']'), ErrorCode::kInvalidArgument,
            "{}: '{}' has no closing bracket. Values are written without blanks: [on|off]", option, word);
    if (is_list) values = values.substr(1, values.size() - 2);
    RouteChoice choice{
        .knob = &find(option, word.substr(0, equals)), .values = alternatives(values), .is_fixed = !is_list};
    require(!choice.values.empty(), ErrorCode::kInvalidArgument, "{}: '{}' names no value", option, word);
    for (const std::string& value : choice.values)
      require(std::find(choice.knob->values.begin(), choice.knob->values.end(), value) !=
                  choice.knob->values.end(),
              ErrorCode::kInvalidArgument, "{}: {} cannot be '{}'; its values are {}", option,
              choice.knob->name, value, fmt::join(choice.knob->values, ", "));
    for (const RouteChoice& c : choices)
      require(c.knob != choice.knob, ErrorCode::kInvalidArgument, "{}: {} is given twice", option,
              c.knob->name);
    choices.push_back(std::move(choice));
  }
  require(!choices.empty(), ErrorCode::kInvalidArgument, "{}: no knob is given", option);
  return choices;
}

BuildRoute RouteKnobs::parse_route(const std::string& option, std::string_view text) const {
  BuildRoute route;
  for (const RouteChoice& c : parse(option, text)) {
    require(c.values.size() == 1, ErrorCode::kInvalidArgument,
            "{}: {} has {} values; --tuneBuildRoutes tries several", option, c.knob->name, c.values.size());
    route.emplace_back(c.knob, c.values.front());
  }
  return route;
}

std::vector<BuildRoute> expand_routes(const std::vector<RouteChoice>& choices, RouteSearch search,
                                      size_t most) {
  BuildRoute baseline;
  for (const RouteChoice& c : choices)
    baseline.emplace_back(c.knob, c.is_fixed ? c.values.front() : c.knob->default_value);
  std::vector<BuildRoute> routes;
  if (search != RouteSearch::kFull) {
    routes.push_back(baseline);
    for (size_t i = 0; i < choices.size(); ++i)
      for (const std::string& value : choices[i].values) {
        if (choices[i].is_fixed || value == choices[i].knob->default_value) continue;
        routes.push_back(baseline);
        routes.back()[i].second = value;
      }
    return routes;
  }
  size_t count = 1;
  for (const RouteChoice& c : choices) {
    count *= c.values.size();
    require(count <= most, ErrorCode::kInvalidArgument,
            "the expression has more than {} routes; --tuningSearch=fast tries "
            "one change at a time",
            most);
  }
  for (size_t n = 0; n < count; ++n) {
    BuildRoute route = baseline;
    size_t rest = n;
    for (size_t i = choices.size(); i-- > 0;) {
      route[i].second = choices[i].values[rest % choices[i].values.size()];
      rest /= choices[i].values.size();
    }
    routes.push_back(std::move(route));
  }
  return routes;
}

std::vector<RouteChoice> only_these_vary(std::vector<RouteChoice> choices,
                                         const std::vector<const RouteKnob*>& knobs) {
  for (RouteChoice& c : choices) {
    if (c.is_fixed) continue;
    const bool varies = std::find(knobs.begin(), knobs.end(), c.knob) != knobs.end();
    if (!varies)
      c.values = {c.knob->default_value};
    else if (std::find(c.values.begin(), c.values.end(), c.knob->default_value) == c.values.end())
      c.values.insert(c.values.begin(), c.knob->default_value);
  }
  return choices;
}

void apply_route(const BuildRoute& route, BuilderConfig& config) {
  for (const auto& [knob, value] : route) {
    if (knob->name == kLevel)
      config.optimization_level = value[0] - '0';
    else if (value == "off" && knob->name.starts_with(kTactic))
      config.disabled_tactics.push_back(knob->name.substr(kTactic.size()));
    else if (value == "off")
      config.disabled_passes.push_back(knob->name.substr(kPass.size()));
  }
}

}  // namespace assay::cli
