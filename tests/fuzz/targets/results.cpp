// Result and input files: JSON with NumPy's streams and archives in base64.
#include "run/results.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "fuzz/targets/numpy_inputs.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_results {
namespace {

void load(const StoredTensorList& list) {
  for (const auto& t : list) t.tensor.load();
}

void run(std::string_view input) {
  const ResultsOrInputs file = load_results_or_inputs(input_file(input));
  if (const auto* inputs = std::get_if<InputData>(&file)) {
    for (const StoredTensorList& list : *inputs) load(list);
    return;
  }
  for (const auto& [name, iterations] : std::get<RunResults>(file).runners)
    for (const IterationResult& iteration : iterations) load(iteration.outputs);
}

std::string array(std::string_view bytes) {
  return fmt::format(R"({{"array": "{}", "polygraphy_class": "ndarray"}})", base64_encode(bytes));
}
std::string inputs_of(const std::string& value) { return fmt::format(R"([{{"x": {}}}])", value); }
std::string results_of(const std::string& value) {
  return fmt::format(
      R"({{"lst": [["r", [{{"outputs": {{"y": {{"values": {}, "polygraphy_class": "LazyArray"}}}}, "runtime": 1e-3, )"
      R"("runner_name": "r", "polygraphy_class": "IterationResult"}}]]], "polygraphy_class": "RunResults"}})",
      value);
}

std::vector<std::string> seeds() {
  std::vector<std::string> list = {
      "{}",
      "[]",
      "[{}]",
      "null",
      R"({"lst": [], "polygraphy_class": "RunResults"})",
      R"([{"x": {"array": "\u0093NUMPY\u0001\u0000", "__polygraphy_encoded_ndarray": "polygraphy_serialized_json_type"}}])",
      std::string(1200, '['),
      R"({"a": "\ud800\udc00\ud800", "b": [1, -0, 1.5e-3, NaN, -Infinity, true]})"};
  for (const std::string& stream : npy_seeds()) {
    list.push_back(inputs_of(array(stream)));
    list.push_back(results_of(array(stream)));
  }
  for (const std::string& archive : npz_seeds()) list.push_back(inputs_of(array(archive)));
  return list;
}

void mutate(std::string& input, Random& r) {
  std::string bytes = r.chance(60) ? random_npy(r) : random_npz(r);
  if (r.chance(30)) mutate_bytes(bytes, r, kNumpyWords);
  input = r.chance(60) ? inputs_of(array(bytes)) : results_of(array(bytes));
}

constexpr std::string_view kWords[] = {"{",           "}",
                                       "[",           "]",
                                       ",",           ":",
                                       "\"",          "\\u0000",
                                       "\\ud800",     "null",
                                       "NaN",         "-Infinity",
                                       "1e999",       "\"polygraphy_class\": ",
                                       "\"ndarray\"", "\"LazyArray\"",
                                       "\"Tensor\"",  "\"lst\"",
                                       "\"array\": ", "\"UEsDBA==\"",
                                       "PK",          "\xc2\x93NUMPY",
                                       "k05VTVBZAQ",  "=="};

}  // namespace

constinit const Target def = {
    .name = "results", .run = run, .seeds = seeds, .mutate = mutate, .words = kWords};

}  // namespace assay::fuzz::target_results
