#include "generate/sequence.h"

#include <gtest/gtest.h>

namespace assay::generate::sequence_test {
namespace {

Dim sym(const std::string& name) { return Dim::symbol(name); }

/// A decoder with one cache of this type, with `width` numbers for each position.
std::shared_ptr<const Interface> interface_of(DType type, int64_t width,
                                              const std::string& cache = "past_0") {
  const std::string present = "present_" + cache.substr(5);
  return std::make_shared<const Interface>(
      find_interface({{"input_ids", Type::tensor(DType::kInt64, Dims{1, sym("tokens")})},
                      {cache, Type::tensor(type, Dims{1, 1, sym("past"), width})}},
                     {{"logits", Type::tensor(DType::kFloat32, Dims{1, sym("tokens"), 6})},
                      {present, Type::tensor(type, Dims{1, 1, sym("all"), width})}}));
}

TokenSequence after_two_tokens(DType type) {
  TokenSequence sequence(interface_of(type, 2));
  const std::vector<int64_t> tokens = {3, 4};
  Tensor cache = Tensor::zeros(type, Shape{1, 1, 2, 2});
  if (type == DType::kFloat32) cache.mutable_data<float>()[3] = 0.5f;
  sequence.take(tokens, {Tensor::zeros(DType::kFloat32, Shape{1, 2, 6}), cache});
  return sequence;
}

TEST(Sequence, IsSeenByAModelWithACacheOfTheSameForm) {
  const TokenSequence sequence = after_two_tokens(DType::kFloat32);
  const std::optional<TokenSequence> seen = sequence.seen_by(interface_of(DType::kFloat16, 2, "past_key"));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->tokens(), sequence.tokens());
  EXPECT_EQ(seen->cached(), 2);
  ASSERT_EQ(seen->caches().size(), 1U);
  EXPECT_EQ(seen->caches()[0].dtype(), DType::kFloat16);
  EXPECT_EQ(seen->caches()[0].shape(), (Shape{1, 1, 2, 2}));
  const TensorList feed = seen->named_feed(std::vector<int64_t>{5});
  ASSERT_EQ(feed.size(), 2U);
  EXPECT_EQ(feed[1].name, "past_key");
}

TEST(Sequence, IsNotSeenByAModelWithAnotherCache) {
  const TokenSequence sequence = after_two_tokens(DType::kFloat32);
  EXPECT_FALSE(sequence.seen_by(interface_of(DType::kFloat32, 3)));
  const auto none = std::make_shared<const Interface>(
      find_interface({{"input_ids", Type::tensor(DType::kInt64, Dims{1, sym("tokens")})}},
                     {{"logits", Type::tensor(DType::kFloat32, Dims{1, sym("tokens"), 6})}}));
  EXPECT_FALSE(sequence.seen_by(none));
}

}  // namespace
}  // namespace assay::generate::sequence_test
