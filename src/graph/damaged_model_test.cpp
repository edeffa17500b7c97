#include "graph/damaged_model.h"

#include <gtest/gtest.h>

namespace assay::damaged_model_test {
namespace {

std::string field(int number, const std::string& payload) {
  std::string length;
  for (size_t n = payload.size(); true; n >>= 7) {
    length += static_cast<char>((n & 127) | (n > 127 ? 128 : 0));
    if (n <= 127) break;
  }
  return std::string(1, static_cast<char>(number << 3 | 2)) + length + payload;
}

std::string model_of(int count) {
  std::string graph;
  for (int i = 0; i < count; ++i)
    graph += field(1, field(1, "t" + std::to_string(i)) + field(2, "t" + std::to_string(i + 1)) +
                          field(3, "n" + std::to_string(i)) + field(4, "Relu"));
  return field(7, graph + field(2, "g") + field(11, field(1, "t0")) +
                      field(12, field(1, "t" + std::to_string(count))));
}

TEST(DamagedModel, OfEveryLengthHasWhatStandsBefore) {
  const std::string whole = model_of(50);
  size_t before = 0;
  for (size_t length = 0; length <= whole.size(); ++length) {
    const auto model = read_damaged_model(std::string_view(whole).substr(0, length), "cut");
    const size_t count = model ? model->nodes.size() : 0;
    EXPECT_GE(count, before) << length;
    EXPECT_LE(count, 50u);
    before = count;
    if (!model) continue;
    EXPECT_EQ(model->is_cut, length < whole.size()) << length;
    EXPECT_EQ(model->place.value_or(count), model->is_cut ? count - 1 : count);
  }
  EXPECT_EQ(before, 50u);
}

TEST(DamagedModel, TheProblemsNodeIsItsPlace) {
  const auto model = read_damaged_model(model_of(5), "node 'n3' (Relu): something");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->place, 3u);
  EXPECT_EQ(model->name, "g");
  EXPECT_EQ(model->inputs, std::vector<std::string>{"t0"});
  EXPECT_EQ(read_damaged_model(model_of(5), "'t3' is defined twice")->place, 2u) << "what makes the tensor";
  EXPECT_FALSE(read_damaged_model(model_of(5), "a rule")->place);
}

TEST(DamagedModel, OtherBytesAreNone) {
  EXPECT_FALSE(read_damaged_model("", "p"));
  EXPECT_FALSE(read_damaged_model(std::string(1000, '\xff'), "p"));
  EXPECT_FALSE(read_damaged_model(std::string(1000, '\0'), "p"));
  EXPECT_FALSE(read_damaged_model("{\"json\": 1}", "p"));
}

}  // namespace
}  // namespace assay::damaged_model_test
