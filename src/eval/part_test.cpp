#include "eval/part.h"

#include <gtest/gtest.h>

#include "run/coerce_inputs.h"

namespace assay::eval::part_test {
namespace {

PartOf part(int64_t first, int64_t end) {
  return {.kind = "calibration",
          .identity = {.version = "1", .model_name = "m", .model_digest = "d", .data = {{"seed", "1"}}},
          .samples = 10,
          .covered = Ranges(first, end),
          .stream = 7};
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Part, AddsUpInAnyOrder) {
  PartOf a = part(0, 3), b = part(7, 10);
  a.add(b);
  a.add(part(3, 7));
  b.add(part(3, 7));
  b.add(part(0, 3));
  const auto nothing = [](JsonWriter&) {};
  EXPECT_EQ(part_json(a, nothing), part_json(b, nothing));
  EXPECT_TRUE(a.is_complete());
}

TEST(Part, RefusesWhatDoesNotBelongTogether) {
  PartOf a = part(0, 5);
  EXPECT_NE(refusal([&] { a.add(part(4, 6)); }).find("both cover the sets 4:5"), std::string::npos);
  PartOf other = part(5, 6);
  other.kind = "ranges";
  EXPECT_NE(refusal([&] { a.add(other); }).find("one is of a calibration, and the other of a ranges"),
            std::string::npos);
  other = part(5, 6);
  other.identity.data = {{"seed", "2"}};
  EXPECT_NE(refusal([&] { a.add(other); }).find("seed is '1' and '2'"), std::string::npos);
  other = part(5, 6);
  other.samples = 11;
  EXPECT_NE(refusal([&] { a.add(other); }).find("there are 10 sets, and 11"), std::string::npos);
  other = part(5, 6);
  other.stream = 8;
  EXPECT_NE(refusal([&] { a.add(other); }).find("different data, or in another order"), std::string::npos);
  EXPECT_EQ(a.covered, Ranges(0, 5));
}

TEST(Part, IsReadAsItWasWritten) {
  const PartOf a = part(2, 4);
  const std::string text = part_json(a, [](JsonWriter& json) { json.key("sets").value(2); });
  EXPECT_TRUE(is_part(text));
  const PartFile back = read_part(text, "a.json");
  EXPECT_EQ(back.content.number_of("sets"), 2);
  EXPECT_EQ(part_json(back.of, [](JsonWriter& json) { json.key("sets").value(2); }), text);
}

TEST(Part, NoByteMayChange) {
  const std::string text = part_json(part(2, 4), [](JsonWriter& json) { json.key("sets").value(2); });
  for (size_t i = 30; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_NE(refusal([&] { read_part(damaged, "a.json"); }), "") << i;
    EXPECT_NE(refusal([&] { read_part(text.substr(0, i), "a.json"); }), "") << i;
  }
}

class Counting final : public DataSource {
 public:
  explicit Counting(int64_t count, float offset = 0) : count_(count), offset_(offset) {}
  void begin(const std::vector<TensorInfo>&) override {}
  std::optional<TensorList> next() override {
    if (at_ == count_) return std::nullopt;
    return TensorList{{"x", Tensor::vector<float>({static_cast<float>(at_++) + offset_})}};
  }

 private:
  int64_t count_, at_ = 0;
  float offset_;
};

PartOf read_all(ShardSource& source, std::vector<float>& values) {
  while (const auto data = source.next()) values.push_back(data->front().tensor.data<float>()[0]);
  PartOf part;
  source.describe(part);
  return part;
}

TEST(ShardSource, HasEveryNthSetAndKnowsAll) {
  std::vector<float> values;
  ShardSource one(std::make_shared<Counting>(7), {1, 3}), two(std::make_shared<Counting>(7), {2, 3});
  const PartOf a = read_all(one, values);
  EXPECT_EQ(values, (std::vector<float>{1, 4}));
  EXPECT_EQ(a.samples, 7);
  EXPECT_EQ(a.covered.text(), "1:2,4:5");
  EXPECT_EQ(a.stream, read_all(two, values).stream);
  // Another order, or other numbers, are noticed by every shard, also in sets that it does not have.
  ShardSource other(std::make_shared<Counting>(7, 1.0F), {1, 3});
  EXPECT_NE(a.stream, read_all(other, values).stream);
}

TEST(ShardSource, SaysNothingOfWhatItHasNotRead) {
  ShardSource source(std::make_shared<Counting>(7), {0, 2});
  source.next();
  PartOf part;
  source.describe(part);
  EXPECT_FALSE(part.samples || part.stream);
  EXPECT_EQ(part.covered.text(), "0:1");
}

}  // namespace
}  // namespace assay::eval::part_test
