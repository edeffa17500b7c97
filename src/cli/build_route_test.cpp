#include "cli/build_route.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::cli::build_route_test {
namespace {

const RouteKnobs& knobs() {
  static const RouteKnobs all(engine::built_in_tactics(), built_in_passes());
  return all;
}

std::vector<std::string> routes(const std::string& expression, RouteSearch search) {
  std::vector<std::string> texts;
  for (const BuildRoute& route : expand_routes(knobs().parse("--o", expression), search))
    texts.push_back(route_text(route));
  return texts;
}

std::string message_of(const std::string& expression) {
  try {
    knobs().parse("--o", expression);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(BuildRoute, FastChangesOneKnobAtATime) {
  EXPECT_EQ(routes("-tactic:gemv=[on|off] -optimization_level=[0|3|5]", RouteSearch::kFast),
            (std::vector<std::string>{
                "-tactic:gemv=on -optimization_level=3", "-tactic:gemv=off -optimization_level=3",
                "-tactic:gemv=on -optimization_level=0", "-tactic:gemv=on -optimization_level=5"}));
}

TEST(BuildRoute, FullHasEveryCombination) {
  EXPECT_EQ(routes("-tactic:gemv=[on|off]\n-optimization_level=[0|1]", RouteSearch::kFull),
            (std::vector<std::string>{
                "-tactic:gemv=on -optimization_level=0", "-tactic:gemv=on -optimization_level=1",
                "-tactic:gemv=off -optimization_level=0", "-tactic:gemv=off -optimization_level=1"}));
}

TEST(BuildRoute, AFixedValueStays) {
  for (const RouteSearch search : {RouteSearch::kFast, RouteSearch::kFull})
    EXPECT_EQ(routes("-optimization_level=1 -tactic:gemv=[off|on]", search).size(), 2U);
  EXPECT_EQ(routes("-optimization_level=1", RouteSearch::kFast),
            std::vector<std::string>{"-optimization_level=1"});
}

TEST(BuildRoute, TheSecondPhaseVariesWhatHelped) {
  const auto choices =
      knobs().parse("--o", "-tactic:gemv=[off] -optimization_level=[0|1] -pass:fuse_pad=[on|off]");
  const auto some = only_these_vary(choices, {choices[0].knob, choices[1].knob});
  EXPECT_EQ(some[0].values, (std::vector<std::string>{"on", "off"}));
  EXPECT_EQ(some[1].values, (std::vector<std::string>{"3", "0", "1"}));
  EXPECT_EQ(some[2].values, std::vector<std::string>{"on"});
  EXPECT_EQ(expand_routes(some, RouteSearch::kFull).size(), 6U);
}

TEST(BuildRoute, SetsWhatItSays) {
  BuilderConfig config;
  apply_route(knobs().parse_route("--o",
                                  "-tactic:gemv=off -pass:fuse_pad=off -optimization_level=0 "
                                  "-tactic:pointwise=on"),
              config);
  EXPECT_EQ(config.disabled_tactics, std::vector<std::string>{"gemv"});
  EXPECT_EQ(config.disabled_passes, std::vector<std::string>{"fuse_pad"});
  EXPECT_EQ(config.optimization_level, 0);
}

TEST(BuildRoute, WhatIsWrongIsNamed) {
  EXPECT_NE(message_of("").find("--o: no knob is given"), std::string::npos);
  EXPECT_NE(message_of("tactic:gemv=on").find("'tactic:gemv=on' is not of the form"), std::string::npos);
  EXPECT_NE(message_of("-tactic:gemv=").find("is not of the form"), std::string::npos);
  EXPECT_NE(message_of("-tactic:gemv=[on").find("no closing bracket"), std::string::npos);
  EXPECT_NE(message_of("-tactic:gemv=[]").find("names no value"), std::string::npos);
  EXPECT_NE(message_of("-tactic:gemv=2").find("-tactic:gemv cannot be '2'; its values are on, off"),
            std::string::npos);
  EXPECT_NE(message_of("-tactic:gemw=on").find("Did you mean -tactic:gemv?"), std::string::npos);
  EXPECT_NE(message_of("-kgen:tiling=[0|1]").find("has no knob '-kgen:tiling'"), std::string::npos);
  EXPECT_THROW(expand_routes(knobs().parse("--o", "-optimization_level=[0|1|2|3]"), RouteSearch::kFull, 3),
               Error);
}

}  // namespace
}  // namespace assay::cli::build_route_test
