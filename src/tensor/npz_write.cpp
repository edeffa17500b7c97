#include <zlib.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "tensor/npy.h"
#include "tensor/npz.h"
#include "tensor/zip_format.h"

namespace assay {
namespace {

using namespace zip;

constexpr uint16_t kPlainVersion = 20, kZip64Version = 45;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kMidnight = 0, kFirstOf1980 = 1 << 5 | 1;  // the same file for the same arrays
/// An extra field without meaning, to align what follows (as zipalign writes it).
constexpr uint16_t kPaddingExtra = 0xd935;
constexpr uint64_t kAlign = 64;

uint32_t or_max(uint64_t value) { return value >= kMax32 ? kMax32 : static_cast<uint32_t>(value); }

/// The fields that local headers and directory entries share, from `version needed` to the sizes.
void append_common(std::string& out, uint16_t version, uint32_t crc, uint64_t bytes) {
  append(out, version);
  append(out, kUtf8Names);
  append(out, static_cast<uint16_t>(kStored));
  append(out, kMidnight);
  append(out, kFirstOf1980);
  append(out, crc);
  append(out, or_max(bytes));
  append(out, or_max(bytes));
}

std::string local_header(const std::string& file_name, uint32_t crc, uint64_t bytes, uint64_t offset) {
  const bool large = bytes >= kMax32;
  std::string extra;
  if (large) {
    append(extra, kZip64Extra);
    append(extra, uint16_t{16});
    append(extra, bytes);
    append(extra, bytes);
  }
  const uint64_t before_padding = offset + kLocalBytes + file_name.size() + extra.size() + 4;
  const auto padding = static_cast<uint16_t>((kAlign - before_padding % kAlign) % kAlign);
  append(extra, kPaddingExtra);
  append(extra, padding);
  extra.append(padding, '\0');

  std::string out;
  append(out, kLocalMark);
  append_common(out, large ? kZip64Version : kPlainVersion, crc, bytes);
  append(out, static_cast<uint16_t>(file_name.size()));
  append(out, static_cast<uint16_t>(extra.size()));
  return out + file_name + extra;
}

std::string directory_entry(const std::string& file_name, uint32_t crc, uint64_t bytes, uint64_t offset) {
  std::string numbers;
  if (bytes >= kMax32) {
    append(numbers, bytes);
    append(numbers, bytes);
  }
  if (offset >= kMax32) append(numbers, offset);
  std::string extra;
  if (!numbers.empty()) {
    append(extra, kZip64Extra);
    append(extra, static_cast<uint16_t>(numbers.size()));
    extra += numbers;
  }
  const uint16_t version = numbers.empty() ? kPlainVersion : kZip64Version;
  std::string out;
  append(out, kDirectoryMark);
  append(out, version);
  append_common(out, version, crc, bytes);
  append(out, static_cast<uint16_t>(file_name.size()));
  append(out, static_cast<uint16_t>(extra.size()));
  append(out, uint16_t{0});  // comment
  append(out, uint16_t{0});  // disk
  append(out, uint16_t{0});  // internal attributes
  append(out, uint32_t{0});  // external attributes
  append(out, or_max(offset));
  return out + file_name + extra;
}

std::string end_records(uint64_t count, uint64_t directory_offset, uint64_t directory_bytes) {
  std::string out;
  if (count >= 0xffff || directory_offset >= kMax32 || directory_bytes >= kMax32) {
    append(out, kEnd64Mark);
    append(out, kEnd64Bytes - 12);
    append(out, kZip64Version);
    append(out, kZip64Version);
    append(out, uint64_t{0});  // both disk numbers
    append(out, count);
    append(out, count);
    append(out, directory_bytes);
    append(out, directory_offset);
    append(out, kLocatorMark);
    append(out, uint32_t{0});
    append(out, directory_offset + directory_bytes);
    append(out, uint32_t{1});
  }
  const auto short_count = static_cast<uint16_t>(std::min<uint64_t>(count, 0xffff));
  append(out, kEndMark);
  append(out, uint32_t{0});  // both disk numbers
  append(out, short_count);
  append(out, short_count);
  append(out, or_max(directory_bytes));
  append(out, or_max(directory_offset));
  append(out, uint16_t{0});  // comment
  return out;
}

}  // namespace

NpzWriter::NpzWriter(const std::string& path) : file_(std::make_unique<AtomicFile>(path)) {}
NpzWriter::~NpzWriter() = default;

void NpzWriter::add(const std::string& name, const Tensor& tensor) {
  const bool used =
      std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  require(!used, ErrorCode::kInvalidArgument, "the .npz archive has two arrays named '{}'", name);
  require(name.size() < 0xff00, ErrorCode::kInvalidArgument,
          "a name of {} bytes is too long for an .npz archive", name.size());
  Entry e{.name = name, .crc = 0, .bytes = 0, .offset = file_->size()};
  write_npy(tensor, [&](const void* data, size_t bytes) {
    e.crc = static_cast<uint32_t>(::crc32_z(e.crc, static_cast<const Bytef*>(data), bytes));
    e.bytes += bytes;
  });
  file_->write(local_header(name + ".npy", e.crc, e.bytes, e.offset));
  write_npy(tensor, [&](const void* data, size_t bytes) { file_->write(data, bytes); });
  entries_.push_back(std::move(e));
}

void NpzWriter::commit() {
  const uint64_t start = file_->size();
  for (const Entry& e : entries_) file_->write(directory_entry(e.name + ".npy", e.crc, e.bytes, e.offset));
  file_->write(end_records(entries_.size(), start, file_->size() - start));
  file_->commit();
}

void save_npz(const TensorList& tensors, const std::string& path) {
  NpzWriter writer(path);
  for (const NamedTensor& t : tensors) writer.add(t.name, t.tensor);
  writer.commit();
}

}  // namespace assay
