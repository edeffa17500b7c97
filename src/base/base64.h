// Base64, standard alphabet with padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// The number of decoded bytes. Throws Error (kInvalidArgument) when its length or its padding is wrong;
/// the other characters are checked by decoding.
size_t base64_decoded_size(std::string_view text);

/// Decodes bytes [first, first + count) of the decoded data into `out`, in parallel when they are
/// many; the range must be within base64_decoded_size(text). Throws Error (kInvalidArgument) that names the
/// position of a character outside the alphabet, blanks and line ends included.
void base64_decode(std::string_view text, size_t first, size_t count, void* out);
/// All of it.
std::string base64_decode(std::string_view text);

/// Encodes a stream that comes in pieces.
class Base64Encoder {
 public:
  /// Appends to `out` the characters that are complete; up to two bytes wait for the next piece.
  void append(const void* data, size_t bytes, std::string& out);
  /// Appends the waiting bytes, padded, and resets the encoder.
  void finish(std::string& out);

 private:
  unsigned char waiting_[2] = {};
  int waiting_count_ = 0;
};

std::string base64_encode(std::string_view bytes);

}  // namespace assay
