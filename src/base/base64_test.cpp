#include "base/base64.h"

#include <gtest/gtest.h>

#include <cstring>

#include "assay/error.h"

namespace assay::base64_test {
namespace {

std::string error_of(std::string_view text) {
  try {
    base64_decode(text);
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

TEST(Base64, TheExamplesOfRfc4648) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : cases) {
    EXPECT_EQ(base64_encode(plain), text);
    EXPECT_EQ(base64_decode(text), plain);
  }
}

TEST(Base64, RoundTripsEveryByteAtEveryPlace) {
  std::string all;
  for (int i = 0; i < 3 * 256 + 2; ++i) all += static_cast<char>(i % 256 ^ i / 256);
  for (size_t start = 0; start < 4; ++start)
    for (size_t n = all.size() - start; n + 4 > all.size() - start; --n) {
      const std::string part = all.substr(start, n);
      EXPECT_EQ(base64_decode(base64_encode(part)), part);
    }
}

TEST(Base64, PiecesGiveTheSameText) {
  const std::string data = "The quick brown fox jumps over the lazy dog.";
  for (size_t piece = 1; piece < 8; ++piece) {
    Base64Encoder encoder;
    std::string out;
    for (size_t i = 0; i < data.size(); i += piece)
      encoder.append(data.data() + i, std::min(piece, data.size() - i), out);
    encoder.append(nullptr, 0, out);
    encoder.finish(out);
    EXPECT_EQ(out, base64_encode(data)) << piece;
  }
}

TEST(Base64, AnyRangeIsDecodedAlone) {
  const std::string data = "0123456789abcdefghij";
  const std::string text = base64_encode(data);
  for (size_t first = 0; first <= data.size(); ++first)
    for (size_t count = 0; first + count <= data.size(); ++count) {
      std::string out(count + 1, '#');
      base64_decode(text, first, count, out.data());
      EXPECT_EQ(out, data.substr(first, count) + "#");
    }
  char c;
  EXPECT_THROW(base64_decode(text, 20, 1, &c), Error);
  EXPECT_THROW(base64_decode(text, SIZE_MAX, 2, &c), Error);
}

TEST(Base64, LargeDataGoesThroughTheThreads) {
  std::string data(3 << 20, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 2654435761U >> 13);
  std::string text = base64_encode(data);
  EXPECT_EQ(base64_decode(text), data);
  text[3000001] = '\n';
  EXPECT_EQ(error_of(text), "character 3000001 of base64 text (code 10) is not of its alphabet");
}

TEST(Base64, IsStrict) {
  EXPECT_EQ(error_of("Zg="), "base64 text has 3 characters, which is not a multiple of 4");
  EXPECT_EQ(error_of("Zm9vYmF\n"), "character 7 of base64 text (code 10) is not of its alphabet");
  EXPECT_EQ(error_of("Zm-v"), "character 2 of base64 text (code 45) is not of its alphabet");
  EXPECT_EQ(error_of("\xff+++"), "character 0 of base64 text (code 255) is not of its alphabet");
  for (const char* text : {"====", "Z===", "Zg==Zg==", "Zg=A", "=AAA", "Zm9v Zm9v   "})
    EXPECT_NE(error_of(text), "") << text;
}

}  // namespace
}  // namespace assay::base64_test
