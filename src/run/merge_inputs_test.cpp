#include "run/merge_inputs.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/log.h"
#include "run/run_test_util.h"

namespace assay::merge_inputs_test {
namespace {

StoredTensorList feed(std::initializer_list<std::pair<const char*, float>> values) {
  StoredTensorList list;
  for (const auto& [name, value] : values) list.push_back({name, Tensor::scalar(value)});
  return list;
}

IterationResult result(StoredTensorList outputs, std::string runner) {
  return {.outputs = std::move(outputs), .runtime = 0.5, .runner_name = std::move(runner)};
}

/// name=value of every tensor, iterations separated by |.
std::string text(const InputData& data) {
  std::string out;
  for (const StoredTensorList& iteration : data) {
    for (const NamedStoredTensor& t : iteration)
      out += fmt::format("{}={} ", t.name, t.tensor.load().data<float>()[0]);
    out += "|";
  }
  return out;
}

TEST(MergeInputs, takes_inputs_and_results_iteration_by_iteration) {
  const TemporaryFolder folder;
  save_inputs(InputData{feed({{"x", 1}}), feed({{"x", 2}})}, folder / "in.json");
  save_run_results({.runners = {{"a", {result(feed({{"y", 3}}), "a"), result(feed({{"y", 4}}), "a")}}}},
                   folder / "out.json");
  const std::string paths[] = {folder / "in.json", folder / "out.json"};
  log::Capture capture;
  EXPECT_EQ(text(merge_inputs(paths)), "x=1 y=3 |x=2 y=4 |");
  EXPECT_EQ(capture.out(), "");
}

TEST(MergeInputs, lets_the_last_of_a_name_win_in_its_first_place) {
  const TemporaryFolder folder;
  save_inputs(InputData{feed({{"x", 1}, {"z", 2}})}, folder / "in.json");
  save_run_results(
      {.runners = {{"a", {result(feed({{"y", 3}, {"x", 4}}), "a")}}, {"b", {result(feed({{"y", 5}}), "b")}}}},
      folder / "out.json");
  const std::string paths[] = {folder / "in.json", folder / "out.json"};
  EXPECT_EQ(text(merge_inputs(paths)), "x=4 z=2 y=5 |");
}

TEST(MergeInputs, keeps_iterations_apart_that_only_one_file_has) {
  const TemporaryFolder folder;
  save_inputs(InputData{feed({{"x", 1}})}, folder / "one.json");
  save_inputs(InputData{feed({{"y", 2}}), feed({{"y", 3}}), feed({{"y", 4}})}, folder / "three.json");
  const std::string paths[] = {folder / "one.json", folder / "three.json"};
  log::Capture capture;
  EXPECT_EQ(text(merge_inputs(paths)), "x=1 y=2 |y=3 |y=4 |");
  EXPECT_EQ(capture.out(),
            fmt::format("[W] The provided files have different numbers of iterations.\n"
                        "    Note: Inputs currently contains 1 iterations, but the data in {} contains 3 "
                        "iterations. Some iterations will contain incomplete data. \n",
                        folder / "three.json"));
}

TEST(MergeInputs, names_the_file_that_holds_neither) {
  const TemporaryFolder folder;
  FILE* file = std::fopen((folder / "number.json").c_str(), "w");
  std::fputs("7", file);
  std::fclose(file);
  const std::string paths[] = {folder / "number.json"};
  EXPECT_EQ(
      error_of([&] { merge_inputs(paths); }),
      fmt::format("expected a list of feed dicts, found a Python int: 7 [in {}]", folder / "number.json"));
}

}  // namespace
}  // namespace assay::merge_inputs_test
