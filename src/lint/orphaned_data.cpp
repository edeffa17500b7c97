#include "lint/orphaned_data.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>

#include "assay/dtype.h"
#include "assay/error.h"
#include "base/input_file.h"
#include "base/sha1.h"
#include "onnx/tensor_data.h"

namespace assay::lint {
namespace {

/// The largest alignment that writers use: a system's mapping granularity.
constexpr int64_t kLargestPadding = 1 << 16;
constexpr std::string_view kMark = "assay data file\n";

struct Range {
  int64_t begin, end;
};
using Ranges = std::map<std::string, std::vector<Range>>;

std::string_view entry(const onnx::TensorMessage& t, std::string_view key) {
  for (const auto& [k, v] : t.external_data)
    if (k == key) return v;
  return {};
}

int64_t number(std::string_view text, int64_t otherwise) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : otherwise;
}

void add(Ranges& ranges, const onnx::TensorMessage& t) {
  if (!onnx::is_external(t)) return;
  constexpr int64_t kRest = std::numeric_limits<int64_t>::max();
  const int64_t begin = number(entry(t, "offset"), 0), length = number(entry(t, "length"), kRest);
  ranges[std::string(entry(t, "location"))].push_back(
      {begin, length > kRest - begin ? kRest : begin + length});
}

void add(Ranges& ranges, const onnx::GraphMessage& g);

void add(Ranges& ranges, const std::vector<onnx::AttributeMessage>& attributes) {
  for (const onnx::AttributeMessage& a : attributes) {
    for (const onnx::TensorMessage& t : a.tensors) add(ranges, t);
    for (const onnx::SparseTensorMessage& s : a.sparse_tensors) {
      add(ranges, s.values);
      add(ranges, s.indices);
    }
    for (const onnx::GraphMessage& g : a.graphs) add(ranges, g);
  }
}

void add(Ranges& ranges, const std::vector<onnx::NodeMessage>& nodes) {
  for (const onnx::NodeMessage& n : nodes) add(ranges, n.attributes);
}

void add(Ranges& ranges, const onnx::GraphMessage& g) {
  for (const onnx::TensorMessage& t : g.initializers) add(ranges, t);
  for (const onnx::SparseTensorMessage& s : g.sparse_initializers) {
    add(ranges, s.values);
    add(ranges, s.indices);
  }
  add(ranges, g.nodes);
}

class DataFile {
 public:
  explicit DataFile(Descriptor file) : file_(std::move(file)) {
    struct stat st {};
    if (::fstat(file_.get(), &st) == 0) size_ = st.st_size;
  }
  int64_t size() const { return size_; }
  /// Without the block that this program writes last.
  int64_t end_of_data() const {
    constexpr int64_t kBlock = Sha1::kBlock;
    if (size_ < kBlock) return size_;
    return read(size_ - kBlock, static_cast<int64_t>(kMark.size())) == kMark ? size_ - kBlock : size_;
  }
  /// Zeros that align the following tensor.
  bool is_padding(int64_t begin, int64_t end) const {
    if (end - begin >= kLargestPadding) return false;
    const std::string bytes = read(begin, end - begin);
    return static_cast<int64_t>(bytes.size()) == end - begin &&
           std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
  }

 private:
  std::string read(int64_t at, int64_t count) const {
    std::string bytes(static_cast<size_t>(count), '\0');
    const ssize_t n = ::pread(file_.get(), bytes.data(), bytes.size(), at);
    bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return bytes;
  }
  Descriptor file_;
  int64_t size_ = 0;
};

int64_t orphaned_bytes(const DataFile& file, std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  ranges.push_back({file.end_of_data(), file.end_of_data()});
  int64_t at = 0, orphaned = 0;
  for (const Range& r : ranges) {
    const int64_t begin = std::min(r.begin, file.size());
    if (begin > at && !file.is_padding(at, begin)) orphaned += begin - at;
    at = std::max(at, std::min(r.end, file.size()));
  }
  return orphaned;
}

}  // namespace

std::vector<OrphanedData> orphaned_data(const onnx::ModelMessage& model, const std::string& folder) {
  Ranges all;
  add(all, model.graph);
  for (const onnx::FunctionMessage& f : model.functions) {
    add(all, f.nodes);
    add(all, f.attribute_defaults);
  }
  std::vector<OrphanedData> found;
  for (const auto& [location, ranges] : all) try {
      BeneathResult opened = open_input_beneath(folder.empty() ? "." : folder, location);
      if (opened.status != BeneathResult::Status::kOpen) continue;
      const DataFile file(std::move(opened.file));
      if (const int64_t bytes = orphaned_bytes(file, ranges); bytes > 0)
        found.push_back({location, bytes, file.size()});
    } catch (const Error&) {
      continue;
    }
  return found;
}

}  // namespace assay::lint
