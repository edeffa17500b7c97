#include "graph/external_data.h"

#include <algorithm>

#include "base/mapped_file.h"
#include "onnx/messages.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Offsets of external data are multiples of this, so that they can be mapped and read with wide loads.
constexpr size_t kAlignment = 64;

/// Collects the locations in a message.
class LocationFinder {
 public:
  std::set<std::string> found;

  void model(const onnx::ModelMessage& m) {
    graph(m.graph);
    for (const onnx::FunctionMessage& f : m.functions) {
      nodes(f.nodes);
      for (const onnx::AttributeMessage& a : f.attribute_defaults) attribute(a);
    }
  }

 private:
  void tensor(const onnx::TensorMessage& t) {
    if (t.data_location != 1) return;
    for (const auto& [key, value] : t.external_data)
      if (key == "location") found.insert(fs::path(value).lexically_normal().string());
  }
  void attribute(const onnx::AttributeMessage& a) {
    for (const onnx::TensorMessage& t : a.tensors) tensor(t);
    for (const onnx::SparseTensorMessage& s : a.sparse_tensors) {
      tensor(s.values);
      tensor(s.indices);
    }
    for (const onnx::GraphMessage& g : a.graphs) graph(g);
  }
  void nodes(const std::vector<onnx::NodeMessage>& list) {
    for (const onnx::NodeMessage& n : list)
      for (const onnx::AttributeMessage& a : n.attributes) attribute(a);
  }
  void graph(const onnx::GraphMessage& g) {
    for (const onnx::TensorMessage& t : g.initializers) tensor(t);
    for (const onnx::SparseTensorMessage& s : g.sparse_initializers) {
      tensor(s.values);
      tensor(s.indices);
    }
    nodes(g.nodes);
  }
};

/// The locations that the model at `path` refers to; none when there is no readable model.
std::set<std::string> external_locations(const fs::path& path) {
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) return {};
  try {
    const auto file = MappedFile::open(path.string());
    LocationFinder finder;
    finder.model(onnx::read_model(file->bytes()));
    return std::move(finder.found);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

ExternalDataWriter::ExternalDataWriter(const fs::path& model_path, const ExportOptions& options)
    : options_(options), folder_(model_path.parent_path()) {
  const fs::path location(options.external_data_path.empty() ? model_path.filename().string() + ".data"
                                                             : options.external_data_path);
  require(location.is_relative() && std::find(location.begin(), location.end(), "..") == location.end(),
          ErrorCode::kInvalidArgument, "the external data path '{}' must lie in the model's folder",
          location.string());
  location_ = location.lexically_normal().string();
}

bool ExternalDataWriter::takes(const Value& v) const {
  const UnalignedTensor& t = v.tensor();
  return t.dtype() != DType::kString && static_cast<int64_t>(t.nbytes()) > options_.external_data_threshold;
}

DataPlace ExternalDataWriter::add(const Value& v) {
  const UnalignedTensor& t = v.tensor();
  if (files_.empty() || options_.one_file_per_tensor) {
    // There may be more tensors than a process may have files open.
    if (!files_.empty()) files_.back().second->prepare();
    if (options_.one_file_per_tensor) location_ = unique_file_name(v.name());
    files_.emplace_back(location_, std::make_unique<AtomicFile>((folder_ / location_).string()));
  }
  AtomicFile& file = *files_.back().second;
  static constexpr char kZeros[kAlignment] = {};
  const size_t padding = (kAlignment - file.size() % kAlignment) % kAlignment;
  file.write({kZeros, padding});
  const DataPlace place{location_, file.size(), t.nbytes()};
  file.write(t.data(), t.nbytes());
  return place;
}

std::string ExternalDataWriter::unique_file_name(const std::string& name) {
  std::string file = name;
  for (char& ch : file)
    if (ch == '/' || ch == '\\' || ch == ':' || ch == '\0') ch = '_';
  if (file.empty() || file[0] == '.') file = "_" + file;
  std::string candidate = file;
  for (int i = 1; !names_.insert(candidate).second; ++i) candidate = file + "_" + std::to_string(i);
  return candidate;
}

std::vector<std::string> ExternalDataWriter::locations() const {
  std::vector<std::string> list;
  for (const auto& [location, file] : files_) list.push_back(location);
  return list;
}

void ExternalDataWriter::prepare() {
  for (auto& [location, file] : files_) file->prepare();
}

void ExternalDataWriter::commit() {
  for (auto& [location, file] : files_) file->commit();
}

void check_data_files(const fs::path& path, const std::set<std::string>& kept,
                      const std::vector<std::string>& written) {
  std::error_code ec;
  const std::set<std::string> old = external_locations(path);
  const auto refuse = [](std::string message, const char* remedy) {
    Error e(ErrorCode::kInvalidArgument, std::move(message));
    e.set_remedy(remedy);
    throw e;
  };
  for (const std::string& location : written) {
    const fs::path file = path.parent_path() / location;
    if (!old.contains(location) && fs::is_regular_file(file, ec))
      refuse(fmt::format("the data file {} exists, but is not of the model {}, which is to be written; "
                         "another model may need it",
                         file.string(), path.string()),
             "Choose another name for the data file, or remove it first.");
  }
  for (const std::string& location : old) {
    const bool used =
        kept.contains(location) || std::find(written.begin(), written.end(), location) != written.end();
    const fs::path file = path.parent_path() / location;
    if (!used && fs::exists(file, ec))
      refuse(fmt::format("replacing the model {} would leave its external data {} without a model",
                         path.string(), file.string()),
             "Save under another name, or remove the old model with its data first.");
  }
}

}  // namespace assay
