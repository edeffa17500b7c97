#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "base/bounds.h"
#include "base/mapped_file.h"
#include "base/memory_limit.h"
#include "tensor/npy.h"
#include "tensor/npz.h"
#include "tensor/zip_format.h"

namespace assay {
namespace {

using namespace zip;

[[noreturn]] void damaged(std::string_view why) {
  fail(ErrorCode::kInvalidArgument, "the .npz archive is damaged: {}", why);
}

/// Little-endian numbers at checked places.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  template <typename Int>
  Int at(uint64_t offset) const {
    if (!within(offset, sizeof(Int), bytes_.size())) damaged("a record lies beyond its end");
    Int value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string_view part(uint64_t offset, uint64_t bytes) const {
    if (!within(offset, bytes, bytes_.size())) damaged("a record lies beyond its end");
    return bytes_.substr(offset, bytes);
  }

 private:
  std::string_view bytes_;
};

uint32_t checksum(std::string_view bytes, uint32_t crc = 0) {
  return static_cast<uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// The end record is within the last 64 KiB, before a comment of at most that size.
uint64_t find_end_record(std::string_view bytes) {
  if (bytes.size() >= kEndBytes) {
    const uint64_t last = bytes.size() - kEndBytes;
    const uint64_t first = last > 0xffff ? last - 0xffff : 0;
    for (uint64_t at = last + 1; at-- > first;)
      if (Fields(bytes).at<uint32_t>(at) == kEndMark) return at;
  }
  fail(ErrorCode::kInvalidArgument, "the data is not an .npz archive: it has no zip directory");
}

/// Reads a deflated entry front to back.
class Inflater {
 public:
  Inflater(std::string_view data, const std::string& name) : data_(data), name_(name) {
    if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) fail(ErrorCode::kInternal, "zlib does not start");
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `out`.
  void read(std::span<char> out) {
    while (!out.empty()) {
      constexpr size_t kMax = 1 << 20;
      const auto want = static_cast<uInt>(std::min(out.size(), kMax));
      const auto have = static_cast<uInt>(std::min(data_.size(), kMax));
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data_.data()));
      stream_.avail_in = have;
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = want;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      const uInt got = want - stream_.avail_out, used = have - stream_.avail_in;
      if ((status != Z_OK && status != Z_STREAM_END) || (got == 0 && used == 0) ||
          (status == Z_STREAM_END && got < out.size()))
        fail(ErrorCode::kInvalidArgument, "the entry '{}' of the .npz archive does not inflate to its size",
             name_);
      crc_ = checksum({out.data(), got}, crc_);
      data_.remove_prefix(used);
      out = out.subspan(got);
    }
  }
  uint32_t crc() const { return crc_; }

 private:
  std::string_view data_;
  const std::string& name_;
  z_stream stream_{};
  uint32_t crc_ = 0;
};

void check_crc(const std::string& name, uint32_t expected, uint32_t found) {
  require(expected == found, ErrorCode::kInvalidArgument,
          "the entry '{}' of the .npz archive fails its checksum", name);
}

}  // namespace

NpzReader::NpzReader(std::string_view bytes, std::shared_ptr<const void> owner)
    : bytes_(bytes), owner_(std::move(owner)) {
  const Fields f(bytes);
  const uint64_t end = find_end_record(bytes);
  uint64_t count = f.at<uint16_t>(end + 10), size = f.at<uint32_t>(end + 12),
           offset = f.at<uint32_t>(end + 16);
  if (end >= kLocatorBytes && f.at<uint32_t>(end - kLocatorBytes) == kLocatorMark) {
    const auto end64 = f.at<uint64_t>(end - kLocatorBytes + 8);
    if (f.part(end64, kEnd64Bytes).substr(0, 4) != mark_text(kEnd64Mark))
      damaged("its zip64 record is missing");
    count = f.at<uint64_t>(end64 + 32);
    size = f.at<uint64_t>(end64 + 40);
    offset = f.at<uint64_t>(end64 + 48);
  }
  read_directory(offset, size, count);
}

void NpzReader::read_directory(uint64_t offset, uint64_t bytes, uint64_t count) {
  const Fields f(Fields(bytes_).part(offset, bytes));
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (f.at<uint32_t>(at) != kDirectoryMark) damaged("its directory ends early");
    const auto flags = f.at<uint16_t>(at + 8);
    const auto name_bytes = f.at<uint16_t>(at + 28), extra_bytes = f.at<uint16_t>(at + 30);
    Entry e{.crc = f.at<uint32_t>(at + 16),
            .method = f.at<uint16_t>(at + 10),
            .stored_bytes = f.at<uint32_t>(at + 20),
            .bytes = f.at<uint32_t>(at + 24),
            .header_offset = f.at<uint32_t>(at + 42)};
    e.name = f.part(at + kDirectoryBytes, name_bytes);
    const Fields extra(f.part(at + kDirectoryBytes + name_bytes, extra_bytes));
    for (uint64_t x = 0; x + 4 <= extra_bytes;) {
      const auto id = extra.at<uint16_t>(x), length = extra.at<uint16_t>(x + 2);
      uint64_t field = x + 4;
      for (uint64_t* value : {&e.bytes, &e.stored_bytes, &e.header_offset})
        if (id == kZip64Extra && *value == kMax32) {
          *value = extra.at<uint64_t>(field);
          field += 8;
        }
      x += 4 + uint64_t{length};
    }
    require((flags & 1) == 0, ErrorCode::kUnsupported, "the entry '{}' of the .npz archive is encrypted",
            e.name);
    if (e.name.ends_with(".npy")) e.name.resize(e.name.size() - 4);
    entries_.push_back(std::move(e));
    at += kDirectoryBytes + name_bytes + extra_bytes + f.at<uint16_t>(at + 32);
  }
  check_overlaps();
}

void NpzReader::check_overlaps() const {
  struct Place {
    uint64_t first, end;
    const std::string* name;
  };
  std::vector<Place> places;
  for (const Entry& e : entries_)
    with_context([&] { return "in array '" + e.name + "'"; },
                 [&] {
                   const std::string_view data = stored_data(e);
                   const auto end = static_cast<uint64_t>(data.data() + data.size() - bytes_.data());
                   places.push_back({e.header_offset, end, &e.name});
                 });
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.first < b.first; });
  for (size_t i = 0; i + 1 < places.size(); ++i)
    require(places[i].end <= places[i + 1].first, ErrorCode::kInvalidArgument,
            "the entries '{}' and '{}' of the .npz archive overlap", *places[i].name, *places[i + 1].name);
}

NpzReader NpzReader::open(const std::string& path) {
  return with_context([&] { return file_place(path); },
                      [&] {
                        const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
                        return NpzReader(file->bytes(), file);
                      });
}

std::string_view NpzReader::stored_data(const Entry& e) const {
  const Fields f(bytes_);
  if (f.at<uint32_t>(e.header_offset) != kLocalMark) damaged("an entry is not where its directory says");
  const uint64_t data = e.header_offset + kLocalBytes + f.at<uint16_t>(e.header_offset + 26) +
                        f.at<uint16_t>(e.header_offset + 28);
  return f.part(data, e.stored_bytes);
}

Tensor NpzReader::load(size_t i) const {
  const Entry& e = entries_[i];
  return with_context(
      [&] { return "in array '" + e.name + "'"; },
      [&] {
        const std::string_view data = stored_data(e);
        if (e.method == kDeflated) return load_deflated(e, data);
        require(e.method == kStored, ErrorCode::kUnsupported,
                "the .npz archive uses zip compression method {}; only stored and deflated are read",
                e.method);
        if (e.bytes != e.stored_bytes) damaged("an entry has two sizes");
        check_crc(e.name, e.crc, checksum(data));
        return read_npy(data, owner_);
      });
}

Tensor NpzReader::load_deflated(const Entry& e, std::string_view data) const {
  if (!can_inflate_to(data.size(), e.bytes)) damaged("an entry claims more than it can hold");
  Inflater in(data, e.name);
  std::string header_text(std::min<uint64_t>(e.bytes, 12), '\0');
  in.read(header_text);
  const size_t prefix = header_text.size(), header_bytes = npy_header_bytes(header_text);
  if (header_bytes > e.bytes) damaged("an array ends within its header");
  // Every header dict is longer than the first bytes.
  if (header_bytes < prefix) damaged("an array's header is empty");
  header_text.resize(header_bytes);
  in.read(std::span(header_text).subspan(prefix));
  const NpyHeader header = parse_npy_header(header_text);
  if (header.data_bytes != e.bytes - header_bytes) damaged("an array's size is not what its header says");
  std::string strings;  // these are fetched out of order when the array is in Fortran order
  if (header.dtype == DType::kString) {
    strings.resize(header.data_bytes);
    in.read(strings);
  }
  Tensor t = read_npy_data(header, [&](size_t offset, size_t count, void* out) {
    const std::span<char> to(static_cast<char*>(out), count);  // within the tensor that read_npy_data() made
    if (header.dtype == DType::kString)
      strings.copy(to.data(), to.size(), offset);
    else
      in.read(to);
  });
  check_crc(e.name, e.crc, in.crc());
  return t;
}

TensorList NpzReader::load_all() const {
  uint64_t total = 0;
  for (const Entry& e : entries_)
    require(!__builtin_add_overflow(total, e.bytes, &total) && total <= static_cast<uint64_t>(memory_limit()),
            ErrorCode::kInvalidArgument,
            "the arrays of the .npz archive take more than the {} bytes that there are", memory_limit());
  TensorList out;
  for (size_t i = 0; i < size(); ++i) out.push_back({name(i), load(i)});
  return out;
}

}  // namespace assay
