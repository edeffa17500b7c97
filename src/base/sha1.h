// SHA-1, as required by TensorProto.external_data's `checksum`: to distinguish files, not for security.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

class Sha1 {
 public:
  static constexpr size_t kBlock = 64;  ///< bytes that are mixed in at a time
  using State = std::array<uint32_t, 5>;

  Sha1() = default;
  /// Continues from this state after `size` bytes, a multiple of kBlock.
  Sha1(const State& state, uint64_t size) : state_(state), size_(size) {}

  void update(std::string_view bytes);
  /// The state between two blocks; holds only while size() is a multiple of kBlock.
  const State& state() const { return state_; }
  uint64_t size() const { return size_; }
  /// The digest of all bytes so far, as 40 lower-case hexadecimal digits.
  std::string digest() const;

 private:
  State state_ = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  uint64_t size_ = 0;
  std::array<unsigned char, kBlock> rest_{};
};

namespace internal {

/// Updates the state with whole
/// blocks, in portable code.
void mix_plainly(Sha1::State& state, const unsigned char* blocks, size_t count);

/// The same with SHA instructions; null if this processor has none.
using Sha1Mix = void(Sha1::State& state, const unsigned char* blocks, size_t count);
Sha1Mix* mix_with_instructions();

}  // namespace internal
}  // namespace assay
