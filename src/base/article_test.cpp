#include "base/article.h"

#include <gtest/gtest.h>

namespace assay::article_test {

TEST(Article, FollowsTheSound) {
  for (const char* noun : {"int64", "unknown", "optional", "undefined", "e", "AVX2"})
    EXPECT_EQ(with_article(noun), "an " + std::string(noun));
  for (const char* noun : {"uint8", "float32", "sequence", "string", "union", "PNG", ""})
    EXPECT_EQ(with_article(noun), "a " + std::string(noun));
}

}  // namespace assay::article_test
