#include "base/sha1.h"

#include <gtest/gtest.h>

namespace assay::sha1_test {
namespace {

std::string digest(std::string_view bytes) {
  Sha1 sum;
  sum.update(bytes);
  return sum.digest();
}

// The examples that NIST publishes for FIPS 180-4, and lengths about the end of a block (values: sha1sum).
TEST(Sha1, KnownDigests) {
  EXPECT_EQ(digest(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(digest("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(digest(std::string(1000000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  EXPECT_EQ(digest(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
  EXPECT_EQ(digest(std::string(56, 'a')), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
  EXPECT_EQ(digest(std::string(63, 'a')), "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
  EXPECT_EQ(digest(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

TEST(Sha1, TheCutsDoNotMatter) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 37 % 251);
  for (const size_t step : {1, 3, 63, 64, 65, 128, 999}) {
    Sha1 sum;
    for (size_t at = 0; at < bytes.size(); at += step) sum.update(std::string_view(bytes).substr(at, step));
    EXPECT_EQ(sum.digest(), digest(bytes)) << step;
  }
}

TEST(Sha1, GoesOnFromAState) {
  const std::string bytes(640, 'x');
  Sha1 first;
  first.update(std::string_view(bytes).substr(0, 192));
  Sha1 second(first.state(), first.size());
  second.update(std::string_view(bytes).substr(192));
  EXPECT_EQ(second.digest(), digest(bytes));
}

TEST(Sha1, InstructionsOrNotTheStateIsTheSame) {
  std::string bytes;
  for (int i = 0; i < 640; ++i) bytes += static_cast<char>(i * 91 % 253);
  Sha1 sum;
  Sha1::State plain = sum.state();
  internal::mix_plainly(plain, reinterpret_cast<const unsigned char*>(bytes.data()), 10);
  sum.update(bytes);
  EXPECT_EQ(sum.state(), plain);
}

}  // namespace
}  // namespace assay::sha1_test
