#include "onnx/data_mark.h"

#include <concepts>

namespace assay::onnx {
namespace {

constexpr std::string_view kWords = "assay data file\n";

template <std::unsigned_integral T>
void put(T value, std::string& out) {
  for (size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}

template <std::unsigned_integral T>
void take(std::string_view& bytes, T& out) {
  out = 0;
  for (size_t i = 0; i < sizeof out; ++i)
    out |= static_cast<T>(T{static_cast<unsigned char>(bytes[i])} << (8 * i));
  bytes.remove_prefix(sizeof out);
}

}  // namespace

std::string data_mark(const Sha1& bytes) {
  std::string mark(kWords);
  put(bytes.size(), mark);
  for (const uint32_t word : bytes.state()) put(word, mark);
  mark.resize(Sha1::kBlock);
  return mark;
}

std::optional<std::string> marked_checksum(std::string_view file) {
  if (file.size() % Sha1::kBlock != 0 || file.empty()) return std::nullopt;
  const std::string_view mark = file.substr(file.size() - Sha1::kBlock);
  std::string_view rest = mark;
  if (!rest.starts_with(kWords)) return std::nullopt;
  rest.remove_prefix(kWords.size());
  uint64_t size = 0;
  take(rest, size);
  if (size != file.size() - Sha1::kBlock) return std::nullopt;
  Sha1::State state;
  for (uint32_t& word : state) take(rest, word);
  Sha1 sum(state, size);
  sum.update(mark);
  return sum.digest();
}

}  // namespace assay::onnx
