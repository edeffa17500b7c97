#include "run/tactic_replay.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run/run_test_util.h"

namespace assay::tactic_replay_test {
namespace {

constexpr const char* kTensor =
    R"({"dtype": "DataType.FLOAT", "strides": [1, 2], "vectorized_dim": -1, "components_per_element": 1, )"
    R"("polygraphy_class": "TensorInfo"})";
constexpr const char* kOldTensor =
    R"({"dtype": "DataType.HALF", "strides": [], "vectorized_dim": null, "components_per_element": null, )"
    R"("__polygraphy_encoded_TensorInfo": "polygraphy_serialized_json_type"})";

std::string algorithm(int64_t tactic, const std::string& inputs, const std::string& outputs) {
  return fmt::format(R"({{"implementation": 7, "tactic": {}, "inputs": [{}], "outputs": [{}], )"
                     R"("polygraphy_class": "Algorithm"}})",
                     tactic, inputs, outputs);
}

std::string replay(const std::string& layers) {
  return fmt::format(R"({{"replay": {{{}}}, "polygraphy_class": "TacticReplayData"}})", layers);
}

/// One layer of that name and tactic.
std::string replay(const std::string& layer, int64_t tactic) {
  return replay(fmt::format(R"("{}": {})", layer, algorithm(tactic, kTensor, kTensor)));
}

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(TacticReplay, prints_layers_as_python_does) {
  const TemporaryFolder folder;
  write(folder / "a.json", replay(fmt::format(R"("conv + relu": {}, "two": {})",
                                              algorithm(-9223372036854775807, kTensor, kOldTensor),
                                              algorithm(2, fmt::format("{}, {}", kTensor, kTensor), ""))));
  log::Capture capture;
  const TacticReplay layers = load_tactic_replay(folder / "a.json");
  EXPECT_EQ(capture.out(), fmt::format("[I] Loading tactic replay file from {}\n", folder / "a.json"));
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].first, "conv + relu");
  EXPECT_EQ(
      layers[0].second.str(),
      "(Implementation: 7, Tactic: -9223372036854775807) | Inputs: (TensorInfo(DataType.FLOAT, (1, 2), -1, "
      "1),) | Outputs: (TensorInfo(DataType.HALF, (), None, None),)");
  EXPECT_EQ(layers[1].second.str(),
            "(Implementation: 7, Tactic: 2) | Inputs: (TensorInfo(DataType.FLOAT, (1, 2), -1, 1), "
            "TensorInfo(DataType.FLOAT, (1, 2), -1, 1)) | Outputs: ()");
}

TEST(TacticReplay, says_what_is_wrong) {
  const TemporaryFolder folder;
  const std::string path = folder / "bad.json", place = " [in " + path + "]";
  const auto error = [&](const std::string& text) {
    write(path, text);
    log::Capture capture;
    return error_of([&] { load_tactic_replay(path); });
  };
  EXPECT_EQ(error("[]"),
            "Provided JSON cannot be decoded into a TacticReplayData.\nNote: JSON was decoded into a <class "
            "'list'>:\n[]" +
                place);
  EXPECT_EQ(error(R"({"polygraphy_class": "TacticReplayData"})"),
            "an object of class TacticReplayData has no 'replay'" + place);
  EXPECT_EQ(error(replay(R"("l": 3)")),
            "its entry is not an object of class Algorithm [at layer 'l']" + place);
  EXPECT_EQ(error(replay(R"("l": {"tactic": 1, "polygraphy_class": "Algorithm"})")),
            "an object of class Algorithm has no 'implementation' [at layer 'l']" + place);
  EXPECT_EQ(error(replay(fmt::format(R"("l": {})", algorithm(1, "5", "")))),
            "an input or output of an algorithm is not an object of class TensorInfo [at layer 'l']" + place);
  EXPECT_EQ(error(replay(R"("l": {"implementation": 1.5, "polygraphy_class": "Algorithm"})")),
            "an implementation is not an integer of 64 bits [at layer 'l']" + place);
  EXPECT_EQ(
      error(replay(R"("l": {"implementation": 99999999999999999999, "polygraphy_class": "Algorithm"})")),
      "an implementation is not an integer of 64 bits [at layer 'l']" + place);
}

TEST(TacticReplay, finds_what_only_the_bad_ones_have) {
  const TemporaryFolder folder;
  write(folder / "good/0.json", replay("a", 1));
  write(folder / "good/deep/1.json", replay("a", 2));
  write(folder / "good/note.txt", "no replay");
  write(folder / "bad/0.json", replay(fmt::format(R"("a": {}, "b": {})", algorithm(2, kTensor, kTensor),
                                                  algorithm(5, kTensor, kTensor))));
  write(folder / "bad/1.json", replay("a", 3));
  write(folder / "bad/2.json", replay("a", 3));
  log::Capture capture;
  const TacticSet good = load_tactic_set(folder / "good");
  EXPECT_EQ(good.paths, (std::vector<std::string>{folder / "good/0.json", folder / "good/deep/1.json"}));
  const TacticSet bad = load_tactic_set(folder / "bad");
  EXPECT_EQ(bad.paths.size(), 3u);
  const TacticChoices rest = subtract_tactics(bad.choices, good.choices);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].first, "a");
  ASSERT_EQ(rest[0].second.size(), 1u);
  EXPECT_EQ(rest[0].second[0].tactic, 3);
  EXPECT_EQ(rest[1].first, "b");
  EXPECT_TRUE(subtract_tactics(good.choices, good.choices).empty());
  EXPECT_TRUE(load_tactic_set(folder / "gone").paths.empty());
  EXPECT_EQ(load_tactic_set(folder / "bad/1.json").paths.size(), 1u);
}

}  // namespace
}  // namespace assay::tactic_replay_test
