// Numbers in a stream of bytes that may end too early.
#pragma once

#include <cstdint>
#include <span>

namespace assay {

/// Reads forward. Past the end it returns zeros, and ok() becomes false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  void seek(size_t position) {
    ok_ = ok_ && position <= bytes_.size();
    at_ = position <= bytes_.size() ? position : bytes_.size();
  }
  void skip(size_t n) { take(n); }

  uint8_t byte() {
    const std::span<const uint8_t> b = take(1);
    return b.empty() ? uint8_t{0} : b[0];
  }
  uint32_t little(int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= uint32_t{byte()} << (8 * i);
    return value;
  }
  uint32_t big(int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | byte();
    return value;
  }
  /// The next n bytes; empty when there are fewer.
  std::span<const uint8_t> take(size_t n) {
    if (n > left()) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    at_ += n;
    return bytes_.subspan(at_ - n, n);
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace assay
