#include "base/base64.h"

#include <array>
#include <cstring>

#include "assay/error.h"
#include "base/bounds.h"
#include "base/parallel.h"

namespace assay {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kBad = 1u << 31;
constexpr int64_t kGrain = 1 << 16;  // groups of four characters

/// The six bits of a character at each of the four positions of a group; kBad for any other character. The OR
/// of the four entries has the three bytes of a group in its low bytes, in memory order.
using Table = std::array<std::array<uint32_t, 256>, 4>;

constexpr Table make_decode_table() {
  Table t{};
  for (auto& place : t) place.fill(kBad);
  for (uint32_t v = 0; v < 64; ++v) {
    const auto c = static_cast<unsigned char>(kAlphabet[v]);
    t[0][c] = v << 2;
    t[1][c] = v >> 4 | (v & 15) << 12;
    t[2][c] = (v >> 2) << 8 | (v & 3) << 22;
    t[3][c] = v << 16;
  }
  return t;
}
constexpr Table kDecode = make_decode_table();

uint32_t decode_group(const char* p) {
  const auto* u = reinterpret_cast<const unsigned char*>(p);
  return kDecode[0][u[0]] | kDecode[1][u[1]] | kDecode[2][u[2]] | kDecode[3][u[3]];
}

constexpr std::array<std::array<char, 2>, 4096> make_encode_table() {
  std::array<std::array<char, 2>, 4096> t{};
  for (size_t i = 0; i < t.size(); ++i) t[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return t;
}
constexpr auto kEncode = make_encode_table();

[[noreturn]] void bad_character(std::string_view text, size_t position) {
  while (position < text.size() && kDecode[0][static_cast<unsigned char>(text[position])] != kBad) ++position;
  fail(ErrorCode::kInvalidArgument, "character {} of base64 text (code {}) is not of its alphabet", position,
       static_cast<int>(static_cast<unsigned char>(text[position])));
}

/// Whole groups without padding.
void decode_groups(std::string_view text, size_t first_group, size_t groups, unsigned char* out) {
  parallel_for(static_cast<int64_t>(groups), kGrain, [&](int64_t begin, int64_t end) {
    const char* in = text.data() + 4 * (first_group + static_cast<size_t>(begin));
    unsigned char* to = out + 3 * begin;
    uint32_t seen = 0;
    for (int64_t i = begin; i < end; ++i, in += 4, to += 3) {
      const uint32_t v = decode_group(in);
      seen |= v;
      to[0] = static_cast<unsigned char>(v);
      to[1] = static_cast<unsigned char>(v >> 8);
      to[2] = static_cast<unsigned char>(v >> 16);
    }
    if (seen & kBad) bad_character(text, 4 * (first_group + static_cast<size_t>(begin)));
  });
}

/// The three bytes of one group, which may be padded.
std::array<unsigned char, 3> decode_one(std::string_view text, size_t group) {
  char c[4];
  std::memcpy(c, text.data() + 4 * group, 4);
  if (4 * group + 4 == text.size()) {
    if (c[3] == '=') c[3] = 'A';
    if (c[2] == '=' && text.back() == '=') c[2] = 'A';
  }
  const uint32_t v = decode_group(c);
  if (v & kBad) bad_character(text, 4 * group);
  return {static_cast<unsigned char>(v), static_cast<unsigned char>(v >> 8),
          static_cast<unsigned char>(v >> 16)};
}

void encode_group(const unsigned char* in, char* out) {
  const uint32_t v = static_cast<uint32_t>(in[0]) << 16 | static_cast<uint32_t>(in[1]) << 8 | in[2];
  std::memcpy(out, kEncode[v >> 12].data(), 2);
  std::memcpy(out + 2, kEncode[v & 4095].data(), 2);
}

}  // namespace

size_t base64_decoded_size(std::string_view text) {
  require(text.size() % 4 == 0, ErrorCode::kInvalidArgument,
          "base64 text has {} characters, which is not a multiple of 4", text.size());
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return text.size() / 4 * 3 - padding;
}

void base64_decode(std::string_view text, size_t first, size_t count, void* out) {
  const size_t total = base64_decoded_size(text);
  require(within(first, count, total), ErrorCode::kInvalidArgument,
          "base64 text holds {} bytes, too few for {} bytes at offset {}", total, count, first);
  auto* to = static_cast<unsigned char*>(out);
  const auto copy_part = [&](size_t group, size_t skip, size_t n) {
    std::memcpy(to, decode_one(text, group).data() + skip, n);
    to += n;
    first += n;
    count -= n;
  };
  if (first % 3 != 0 && count > 0) copy_part(first / 3, first % 3, std::min(count, 3 - first % 3));
  if (const size_t groups = count / 3; groups > 0) {
    // Only an incomplete last group may be padded, so these have no padding.
    decode_groups(text, first / 3, groups, to);
    to += 3 * groups;
    first += 3 * groups;
    count -= 3 * groups;
  }
  if (count > 0) copy_part(first / 3, 0, count);
}

std::string base64_decode(std::string_view text) {
  std::string out(base64_decoded_size(text), '\0');
  base64_decode(text, 0, out.size(), out.data());
  return out;
}

void Base64Encoder::append(const void* data, size_t bytes, std::string& out) {
  const auto* in = static_cast<const unsigned char*>(data);
  if (waiting_count_ > 0) {
    unsigned char group[3] = {waiting_[0], waiting_[1], 0};
    while (waiting_count_ < 3 && bytes > 0) {
      group[waiting_count_++] = *in++;
      --bytes;
    }
    if (waiting_count_ < 3) {
      std::memcpy(waiting_, group, 2);
      return;
    }
    waiting_count_ = 0;
    char text[4];
    encode_group(group, text);
    out.append(text, 4);
  }
  const size_t groups = bytes / 3, at = out.size();
  out.resize(at + 4 * groups);
  for (size_t i = 0; i < groups; ++i) encode_group(in + 3 * i, out.data() + at + 4 * i);
  waiting_count_ = static_cast<int>(bytes % 3);
  if (waiting_count_ > 0) std::memcpy(waiting_, in + 3 * groups, bytes % 3);
}

void Base64Encoder::finish(std::string& out) {
  if (waiting_count_ == 0) return;
  const unsigned char group[3] = {waiting_[0],
                                  waiting_count_ == 2 ? waiting_[1] : static_cast<unsigned char>(0), 0};
  char text[4];
  encode_group(group, text);
  text[3] = '=';
  if (waiting_count_ == 1) text[2] = '=';
  out.append(text, 4);
  waiting_count_ = 0;
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  Base64Encoder encoder;
  encoder.append(bytes.data(), bytes.size(), out);
  encoder.finish(out);
  return out;
}

}  // namespace assay
