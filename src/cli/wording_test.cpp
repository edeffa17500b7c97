#include "console/wording.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/wording.h"
#include "cli/bench_options.h"
#include "cli/registries.h"

namespace assay::cli::wording_test {
namespace {

const std::vector<std::string> kValues = {"<0>", "<1>", "<2>"};

TEST(CliWording, EveryKeyHasWords) {
  std::set<std::string_view> keys;
  for (const WordingEntry& e : wording_entries()) {
    EXPECT_TRUE(keys.insert(e.key).second) << e.key << " is there twice";
    EXPECT_NE(words_of_options(e.key, kValues, false), "") << e.key;
    EXPECT_NE(words_of_options(e.key, kValues, true), "") << e.key;
  }
}

TEST(CliWording, TheLibrarysWordsNameNoOptionAndNoCommand) {
  for (const WordingEntry& e : wording_entries()) {
    EXPECT_EQ(e.words.find("--"), std::string_view::npos) << e.key;
    EXPECT_EQ(e.words.find("assay "), std::string_view::npos) << e.key;
    EXPECT_NE(e.words, "") << e.key;
  }
}

TEST(CliWording, NoValueIsLost) {
  for (const WordingEntry& e : wording_entries())
    for (size_t i = 0; i < kValues.size(); ++i) {
      if (e.words.find("{" + std::to_string(i) + "}") == std::string_view::npos) continue;
      EXPECT_NE(words_of_options(e.key, kValues, false).find(kValues[i]), std::string::npos) << e.key;
    }
}

void collect(const Command& command, const Registries& registries, std::set<std::string>& names) {
  ArgParser parser("assay", "");
  command.add_options(parser, registries, command);
  for (const OptionGroup* g : parser.groups())
    for (const Option& o : g->options) names.insert(o.names.begin(), o.names.end());
  for (const Command* sub : command.subcommands) collect(*sub, registries, names);
}

TEST(CliWording, NamesOptionsThatThereAre) {
  const Registries registries;
  std::set<std::string> names = {"--no-extensions", "--extension", "--memory-limit"};
  for (const Command* c : registries.commands.all()) collect(*c, registries, names);
  ArgParser trtexec("trtexec", "");
  add_bench_options(trtexec, /*as_trtexec=*/true);
  for (const OptionGroup* g : trtexec.groups())
    for (const Option& o : g->options) names.insert(o.names.begin(), o.names.end());
  for (const WordingEntry& e : wording_entries())
    for (const bool as_trtexec : {false, true}) {
      const std::string words = words_of_options(e.key, {}, as_trtexec);
      size_t at = 0;
      while ((at = words.find("--", at)) != std::string::npos) {
        const size_t end =
            words.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-", at);
        const std::string option = words.substr(at, end - at);
        // Names with a placeholder: --trt-{0}-shapes, --{0}.
        const bool is_open = end != std::string::npos && words[end] == '{';
        EXPECT_TRUE(is_open || names.contains(option)) << e.key << ": " << option;
        at = end == std::string::npos ? words.size() : end;
      }
    }
}

TEST(CliWording, IsWhatErrorsSay) {
  use_words_of_options(/*as_trtexec=*/false);
  Error e(ErrorCode::kNotFound, "its external data file w.bin does not exist");
  set_remedy(e, Say::kExternalDataDir);
  EXPECT_STREQ(e.what(),
               "its external data file w.bin does not exist. Name the folder that holds it with "
               "--external-data-dir.");
  EXPECT_EQ(e.remedy_key(), "external-data-dir");
  EXPECT_EQ(say(Say::kBuildRefittable),
            "Build it with --refit or --strip-weights (bench), or --refittable or --strip-plan (convert).");
  use_words_of_options(/*as_trtexec=*/true);
  EXPECT_EQ(say(Say::kBuildRefittable), "Build it with --refit or --stripWeights.");
  set_wording(nullptr);
  EXPECT_EQ(say(Say::kRanks, {"both"}), "Choose a number of ranks that divides both.");
}

}  // namespace
}  // namespace assay::cli::wording_test
