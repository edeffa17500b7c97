#include "fuzz/targets/target.h"
#include "run/tactic_replay.h"

namespace assay::fuzz::target_replay {
namespace {

void run(std::string_view input) {
  for (const auto& [layer, algorithm] : load_tactic_replay(input_file(input))) (void)algorithm.str();
}

std::vector<std::string> seeds() {
  const std::string tensor =
      R"({"dtype": "DataType.FLOAT", "strides": [1, 2], "vectorized_dim": -1, "components_per_element": null, "polygraphy_class": "TensorInfo"})";
  const std::string algorithm = R"({"implementation": 7, "tactic": -9223372036854775808, "inputs": [)" +
                                tensor + "], \"outputs\": [" + tensor + ", " + tensor +
                                R"(], "polygraphy_class": "Algorithm"})";
  return {R"({"replay": {"a": )" + algorithm + ", \"b\": " + algorithm +
              R"(}, "polygraphy_class": "TacticReplayData"})",
          R"({"replay": {}, "__polygraphy_encoded_TacticReplayData": "polygraphy_serialized_json_type"})"};
}

constexpr std::string_view kWords[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       ":",
                                       "\"",
                                       "null",
                                       "-1",
                                       "9223372036854775808",
                                       "1.0",
                                       "\"replay\"",
                                       "\"Algorithm\"",
                                       "\"TensorInfo\"",
                                       "\"strides\": ",
                                       "\\u0000"};

}  // namespace

constinit const Target def = {.name = "replay", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_replay
