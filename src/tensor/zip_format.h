// Marks and sizes of the records of a zip archive (APPNOTE 6.3).
#pragma once

#include <cstdint>
#include <string>

namespace assay::zip {

inline constexpr uint32_t kLocalMark = 0x04034b50, kDirectoryMark = 0x02014b50, kEndMark = 0x06054b50;
inline constexpr uint32_t kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50;
inline constexpr uint64_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                          kLocatorBytes = 20;
/// Placeholder for a number that is in the zip64 extra field.
inline constexpr uint32_t kMax32 = 0xffffffff;
inline constexpr uint16_t kZip64Extra = 1;
inline constexpr int kStored = 0, kDeflated = 8;

template <typename Int>
void append(std::string& out, Int value) {
  for (size_t i = 0; i < sizeof(Int); ++i) out += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
}

inline std::string mark_text(uint32_t mark) {
  std::string out;
  append(out, mark);
  return out;
}

}  // namespace assay::zip
