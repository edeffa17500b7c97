#include "cli/args.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::cli::args_test {
namespace {

using Words = std::vector<std::string>;

ArgParser small_parser() {
  ArgParser parser("assay run", "Runs.");
  OptionGroup& group = parser.add_group("Main");
  group.options = {
      {.names = {"model_file"}, .help = "A model.", .arity = Arity::kOptional},
      {.names = {"--onnxrt"}, .help = "One.", .arity = Arity::kNone},
      {.names = {"--ref"}, .help = "Two.", .arity = Arity::kNone},
      {.names = {"-v", "--verbose"}, .help = "More.", .arity = Arity::kNone},
      {.names = {"-q", "--quiet"}, .help = "Less.", .arity = Arity::kNone},
      {.names = {"-o", "--output"}, .help = "Where."},
      {.names = {"--iterations", "--iters"}, .help = "How often.", .kind = ValueKind::kInteger},
      {.names = {"--ratio"}, .help = "How much.", .kind = ValueKind::kNumber},
      {.names = {"--rtol", "--rel-tol"}, .help = "Tolerance.", .arity = Arity::kAtLeastOne},
      {.names = {"--sources"}, .help = "Any.", .arity = Arity::kAny},
      {.names = {"--external"}, .help = "Maybe.", .arity = Arity::kOptional},
      {.names = {"--compare"}, .help = "Which.", .choices = {"simple", "indices"}},
      {.names = {"--load-inputs"}, .help = "Load.", .arity = Arity::kAtLeastOne, .exclusive = "inputs"},
      {.names = {"--load-script"}, .help = "Script.", .exclusive = "inputs"},
  };
  return parser;
}

ParsedArgs parse(const Words& words) { return small_parser().parse(words); }

std::string usage_message(const Words& words) {
  try {
    parse(words);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(Args, FlagsKeepOrderAndRepetitions) {
  const ParsedArgs a = parse({"m.onnx", "--onnxrt", "--ref", "--onnxrt"});
  EXPECT_EQ(a.text("model_file"), "m.onnx");
  EXPECT_EQ(a.sequence(Words{"--ref", "--onnxrt"}), (Words{"--onnxrt", "--ref", "--onnxrt"}));
  EXPECT_EQ(a.count("--onnxrt"), 2);
  EXPECT_FALSE(a.has("--rtol"));
  EXPECT_EQ(a.list("--rtol"), std::nullopt);
}

TEST(Args, PositionalAfterFlags) {
  EXPECT_EQ(parse({"--onnxrt", "m.onnx"}).text("model_file"), "m.onnx");
  EXPECT_EQ(parse({"--onnxrt", "m.onnx", "--ref"}).text("model_file"), "m.onnx");
  EXPECT_EQ(parse({}).text("model_file"), std::nullopt);
}

TEST(Args, WordListsAreGreedy) {
  const ParsedArgs a = parse({"--rtol", "1e-5", "y:1e-3", "m.onnx", "--ref"});
  EXPECT_EQ(a.list("--rtol"), (Words{"1e-5", "y:1e-3", "m.onnx"}));
  EXPECT_FALSE(a.has("model_file"));
}

TEST(Args, TheLastOccurrenceCountsAndAllAreKept) {
  const ParsedArgs a = parse({"--external", "--external", "w.bin", "--rel-tol", "1", "--rtol", "2", "3"});
  EXPECT_EQ(a.list("--rtol"), (Words{"2", "3"}));
  EXPECT_EQ(a.all("--external"), (std::vector<Words>{{}, {"w.bin"}}));
  EXPECT_EQ(a.text("--external"), "w.bin");
}

TEST(Args, ValuesAfterEquals) {
  EXPECT_EQ(parse({"--iterations=3"}).integer("--iterations"), 3);
  EXPECT_EQ(parse({"--rtol=y:1", "m.onnx"}).text("model_file"), "m.onnx");
  EXPECT_EQ(parse({"--output="}).text("-o"), "");
  EXPECT_EQ(usage_message({"--onnxrt=yes"}), "argument --onnxrt: ignored explicit argument 'yes'");
}

TEST(Args, UnambiguousPrefixes) {
  EXPECT_EQ(parse({"--itera", "4"}).integer("--iterations"), 4);
  EXPECT_EQ(parse({"--rti=4"}).unrecognized(), (Words{"--rti=4"}));
  EXPECT_EQ(parse({"--rat=0.5"}).number("--ratio"), 0.5);
  EXPECT_EQ(usage_message({"--load", "x"}),
            "ambiguous option: --load could match --load-inputs, --load-script");
  // Two spellings of one option are not ambiguous.
  EXPECT_EQ(parse({"--iter=1"}).integer("--iterations"), 1);
}

TEST(Args, ShortFlagsJoin) {
  const ParsedArgs a = parse({"-vvq", "-ofile"});
  EXPECT_EQ(a.count("-v"), 2);
  EXPECT_EQ(a.count("-q"), 1);
  EXPECT_EQ(a.text("-o"), "file");
  EXPECT_EQ(parse({"-vo", "x"}).text("-o"), "x");
  EXPECT_EQ(usage_message({"-vx"}), "argument -v/--verbose: ignored explicit argument 'x'");
}

TEST(Args, UnknownOptionsAndSurplusWordsAreHandedBack) {
  EXPECT_EQ(parse({"m.onnx", "--no-such", "--ref"}).unrecognized(), (Words{"--no-such"}));
  EXPECT_EQ(parse({"m.onnx", "extra", "--ref", "more"}).unrecognized(), (Words{"extra", "more"}));
  // The word after an unknown option is free to be the model.
  const ParsedArgs a = parse({"--no-such", "m.onnx"});
  EXPECT_EQ(a.text("model_file"), "m.onnx");
  EXPECT_EQ(a.unrecognized(), (Words{"--no-such"}));
}

TEST(Args, NegativeNumbersAreValues) {
  EXPECT_EQ(parse({"--iterations", "-1"}).integer("--iterations"), -1);
  EXPECT_EQ(parse({"--ratio", "-.5"}).number("--ratio"), -0.5);
  EXPECT_EQ(parse({"--rtol", "-", "a b"}).list("--rtol"), (Words{"-", "a b"}));
}

TEST(Args, OneOfTheOptionsThatExcludeEachOther) {
  ArgParser parser("prog", "");
  parser.add_group("Source").options = {
      {.names = {"-s", "--hint"}, .help = "A file.", .exclusive = "source", .required = true},
      {.names = {"--one-shot"},
       .help = "None.",
       .arity = Arity::kNone,
       .exclusive = "source",
       .required = true}};
  const auto message = [&](const Words& words) -> std::string {
    try {
      parser.parse(words);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "one of the arguments -s/--hint --one-shot is required");
  EXPECT_EQ(message({"--one-shot"}), "");
  EXPECT_EQ(message({"-s", "x"}), "");
  EXPECT_EQ(message({"-s", "x", "--one-shot"}), "argument --one-shot: not allowed with argument -s/--hint");
}

TEST(Args, DoubleDashEndsOptions) {
  const ParsedArgs a = parse({"--ref", "--", "--onnxrt"});
  EXPECT_EQ(a.text("model_file"), "--onnxrt");
  EXPECT_FALSE(a.has("--onnxrt"));
  EXPECT_EQ(usage_message({"--rtol", "--", "1"}),
            "argument --rtol/--rel-tol: expected at least one argument");
}

TEST(Args, WrongValuesAreUsageErrors) {
  EXPECT_EQ(usage_message({"--iterations", "x"}), "argument --iterations/--iters: invalid int value: 'x'");
  EXPECT_EQ(usage_message({"--ratio", "x"}), "argument --ratio: invalid float value: 'x'");
  EXPECT_EQ(usage_message({"--compare", "x"}),
            "argument --compare: invalid choice: 'x' (choose from 'simple', 'indices')");
  EXPECT_EQ(usage_message({"--compare"}), "argument --compare: expected one argument");
  EXPECT_EQ(usage_message({"--rtol", "--ref"}), "argument --rtol/--rel-tol: expected at least one argument");
  EXPECT_EQ(usage_message({"--load-inputs", "a", "--load-script", "b"}),
            "argument --load-script: not allowed with argument --load-inputs");
}

TEST(Args, RequiredOptionsAndPositionals) {
  ArgParser parser("assay to-input", "Merges.");
  parser.add_group("Main").options = {{.names = {"paths"}, .help = "Files.", .arity = Arity::kAtLeastOne},
                                      {.names = {"-o", "--output"}, .help = "Where.", .required = true}};
  const ParsedArgs a = parser.parse(Words{"a", "b", "-o", "c"});
  EXPECT_EQ(a.list("paths"), (Words{"a", "b"}));
  try {
    parser.parse(Words{});
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "the following arguments are required: paths, -o/--output");
    EXPECT_EQ(e.usage(), "usage: assay to-input [options] paths ... -o OUTPUT\n");
  }
}

ArgParser nested_parser() {
  ArgParser parser("assay", "Does things.");
  parser.add_command("inspect", "Looks.", "Looks closely.", [](ArgParser& tool) {
    tool.add_group("Logging").options = {
        {.names = {"-v", "--verbose"}, .help = "More.", .arity = Arity::kNone}};
    tool.add_command("model", "A model.", "A model.", [](ArgParser& sub) {
      sub.add_group("Main").options = {
          {.names = {"model_file"}, .help = "File."},
          {.names = {"-v", "--verbose"}, .help = "More.", .arity = Arity::kNone}};
    });
  });
  return parser;
}

TEST(Args, SubcommandsNestAndShareFlags) {
  const ParsedArgs a = nested_parser().parse(Words{"inspect", "-v", "model", "-v", "m.onnx", "x"});
  EXPECT_EQ(a.commands(), (Words{"inspect", "model"}));
  EXPECT_EQ(a.count("-v"), 2);
  EXPECT_EQ(a.text("model_file"), "m.onnx");
  EXPECT_EQ(a.unrecognized(), (Words{"x"}));
  EXPECT_THROW(nested_parser().parse(Words{"inspect"}), UsageError);
  EXPECT_THROW(nested_parser().parse(Words{"inspekt"}), UsageError);
  EXPECT_THROW(nested_parser().parse(Words{}), UsageError);
}

TEST(Args, HelpStopsEverythingElse) {
  const ParsedArgs a = nested_parser().parse(Words{"inspect", "model", "--help"});
  ASSERT_TRUE(a.wants_help());
  EXPECT_TRUE(a.help_text().starts_with("usage: assay inspect model [options] model_file\n"))
      << a.help_text();
  EXPECT_TRUE(nested_parser().parse(Words{"--he"}).wants_help());
}

TEST(Args, HelpNamesEveryOptionWithinTheWidth) {
  const std::string page = small_parser().help(60);
  for (const char* text :
       {"--rtol, --rel-tol RTOL ...", "--compare {simple,indices}", "--external [EXTERNAL]", "Main"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
  for (size_t start = 0, end; (end = page.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 60U) << page.substr(start, end - start);
}

ArgParser launcher() {
  ArgParser parser("assay python", "Starts another program.");
  parser.add_group("Main").options = {
      {.names = {"--real"}, .help = "A name."},
      {.names = {"--list"}, .help = "A flag.", .arity = Arity::kNone},
      {.names = {"-m"}, .help = "A module.", .begins_remainder = true},
      {.names = {"script"}, .help = "A script.", .arity = Arity::kRemainder, .metavar = "SCRIPT"},
  };
  return parser;
}

TEST(Args, WordsOfAnotherProgramAreNotRead) {
  const auto remainder = [](const Words& words) {
    return launcher().parse(words).list("script").value_or(Words{});
  };
  EXPECT_EQ(remainder({"--real", "x", "a.py", "--real", "--help", "--", "-m", "y"}),
            (Words{"a.py", "--real", "--help", "--", "-m", "y"}));
  EXPECT_EQ(remainder({"--rea=x", "a.py", "b"}), (Words{"a.py", "b"}));
  EXPECT_EQ(remainder({"-m", "module", "-m", "other", "--nowhere"}), (Words{"-m", "other", "--nowhere"}));
  EXPECT_EQ(remainder({"--list"}), Words{});
  EXPECT_EQ(launcher().parse(Words{"-m", "module", "--real", "x"}).text("-m"), "module");
  EXPECT_FALSE(launcher().parse(Words{"-m", "module", "--real", "x"}).has("--real"));
  // Before them everything is the program's own.
  EXPECT_EQ(launcher().parse(Words{"--nowhere", "a.py"}).unrecognized(), Words{"--nowhere"});
  EXPECT_TRUE(launcher().parse(Words{"--help", "a.py"}).wants_help());
  EXPECT_THROW(launcher().parse(Words{"--real"}), UsageError);
  EXPECT_THROW(launcher().parse(Words{"-m"}), UsageError);
}

TEST(Args, AnOptionMayTakeAllThatFollows) {
  ArgParser parser("assay debug", "Searches.");
  parser.add_group("Main").options = {
      {.names = {"model_file"}, .help = "A model."},
      {.names = {"--check"}, .help = "A command.", .arity = Arity::kRemainder},
      {.names = {"--chart"}, .help = "Something else.", .arity = Arity::kNone},
  };
  const ParsedArgs args = parser.parse(Words{"m.onnx", "--check", "run", "--ch", "--help", "--check", "-x"});
  EXPECT_EQ(args.list("--check"), (Words{"run", "--ch", "--help", "--check", "-x"}));
  EXPECT_EQ(args.text("model_file"), "m.onnx");
  EXPECT_FALSE(args.wants_help());
  EXPECT_EQ(parser.parse(Words{"m.onnx", "--check"}).list("--check"), Words{});
  EXPECT_THROW(parser.parse(Words{"--check", "m.onnx"}), UsageError) << "the model is the command's";
}

TEST(Args, LookupOfAnUndeclaredOptionIsABug) { EXPECT_THROW(parse({}).has("--nowhere"), Error); }

TEST(Args, NearestName) {
  const Words names = {"--fail-fast", "--rtol", "--atol", "--iterations"};
  EXPECT_EQ(nearest_name("--fail-fst", names), "--fail-fast");
  EXPECT_EQ(nearest_name("--iteration-count", names), "");
  EXPECT_EQ(nearest_name("--no-such-option", names), "");
}

}  // namespace
}  // namespace assay::cli::args_test
