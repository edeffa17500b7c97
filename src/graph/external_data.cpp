#include "graph/external_data.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/mapped_file.h"
#include "base/utf8.h"
#include "onnx/data_mark.h"
#include "onnx/forms/form.h"
#include "onnx/messages.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Offsets of external data are multiples of this, so that they can be mapped and read with wide loads.
constexpr size_t kAlignment = 64;
static_assert(kAlignment == Sha1::kBlock, "a file's mark begins with a block");
/// Block size of checksumming and writing.
constexpr size_t kPiece = size_t{1} << 20;
/// A file name may have 255 bytes; some are reserved for a distinguishing suffix.
constexpr size_t kLongestName = 220;

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
    const onnx::ModelForm form = onnx::form_of(path.string(), file->bytes());
    const std::string message =
        form != onnx::ModelForm::kBinary ? onnx::read_form(form, file->bytes()) : std::string();
    finder.model(onnx::read_model(form == onnx::ModelForm::kBinary ? file->bytes() : message));
    return std::move(finder.found);
  } catch (const Error&) {
    return {};
  }
}

/// Syncs a folder, for durability.
void make_durable(const std::string& folder) {
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) ::fsync(opened.get());
}

}  // namespace

std::string external_data_location(const fs::path& model_path, const std::string& name) {
  const std::string model = model_path.filename().string();
  const fs::path location(name.empty() ? model + ".data" : name);
  require(location.is_relative() && std::find(location.begin(), location.end(), "..") == location.end(),
          ErrorCode::kInvalidArgument, "the external data path '{}' must lie in the model's folder",
          location.string());
  std::string normal = location.lexically_normal().string();
  require(normal != model, ErrorCode::kInvalidArgument,
          "the external data path '{}' is that of the model itself", normal);
  return normal;
}

ExternalDataWriter::ExternalDataWriter(const fs::path& model_path, const ExportOptions& options)
    : options_(options), folder_(model_path.parent_path()) {
  location_ = external_data_location(model_path, options.external_data_path);
  taken_names_.insert(model_path.filename().string());
}

bool ExternalDataWriter::takes(const Value& v) const {
  const UnalignedTensor& t = v.tensor();
  return t.dtype() != DType::kString && static_cast<int64_t>(t.nbytes()) > options_.external_data_threshold;
}

DataPlace ExternalDataWriter::add(const Value& v) {
  if (names_ == Names::kCollect) {
    collected_.push_back(&v);
    return {};
  }
  const Place& place = places_.at(&v);
  const File& file = files_[place.file];
  return {names_ == Names::kFresh ? file.file->temporary_name() : file.location, place.offset,
          v.tensor().nbytes(), file.checksum};
}

void ExternalDataWriter::write() {
  for (const Value* v : collected_) {
    if (files_.empty() || options_.one_file_per_tensor) open_file(*v);
    static constexpr char kZeros[kAlignment] = {};
    AtomicFile& file = *files_.back().file;
    write_data({kZeros, (kAlignment - file.size() % kAlignment) % kAlignment});
    places_.emplace(v, Place{files_.size() - 1, file.size()});
    write_data({static_cast<const char*>(v->tensor().data()), v->tensor().nbytes()});
  }
  if (!files_.empty()) finish_file();
}

void ExternalDataWriter::open_file(const Value& v) {
  if (!files_.empty()) finish_file();
  if (options_.one_file_per_tensor) location_ = unique_file_name(v.name());
  files_.push_back(
      {location_,
       std::make_unique<AtomicFile>(
           (folder_ / location_).string(), folder_.empty() ? "." : folder_.string(), location_,
           TemporaryFile::Options{
               .kind = TemporaryKind::kData, .writer = writer_, .is_named = options_.one_file_per_tensor}),
       {}});
  sum_ = Sha1();
}

void ExternalDataWriter::write_data(std::string_view bytes) {
  // So that data read for the checksum are still cached for writing.
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPiece))) {
    const std::string_view piece = bytes.substr(0, kPiece);
    sum_.update(piece);
    files_.back().file->write(piece);
  }
}

/// Ends the last file with its mark.
void ExternalDataWriter::finish_file() {
  static constexpr char kZeros[kAlignment] = {};
  File& file = files_.back();
  write_data({kZeros, (kAlignment - file.file->size() % kAlignment) % kAlignment});
  const std::string mark = onnx::data_mark(sum_);
  write_data(mark);
  file.checksum = sum_.digest();
  // There may be more tensors than a process may have
  // files open. The lock of the first covers the others.
  if (options_.one_file_per_tensor && files_.size() > 1)
    file.file->close();
  else
    file.file->prepare();
}

std::string ExternalDataWriter::unique_file_name(const std::string& name) {
  std::string file = name;
  for (char& ch : file)
    if (ch == '/' || ch == '\\' || ch == ':' || static_cast<unsigned char>(ch) < ' ' || ch == '\x7f')
      ch = '_';
  if (file.empty() || file[0] == '.') file = "_" + file;
  if (file.size() > kLongestName) {
    // The suffix distinguishes long names with a common prefix. Characters are not cut.
    Sha1 sum;
    sum.update(name);
    file = std::string(utf8_prefix(file, kLongestName)) + "_" + sum.digest().substr(0, 16);
  }
  std::string candidate = file;
  for (int i = 1; !taken_names_.insert(candidate).second; ++i) candidate = file + "_" + std::to_string(i);
  return candidate;
}

std::vector<std::string> ExternalDataWriter::locations() const {
  std::vector<std::string> list;
  for (const File& f : files_) list.push_back(f.location);
  return list;
}

void ExternalDataWriter::put_in_place(const std::function<void()>& fresh,
                                      const std::function<void()>& final) {
  const std::string folder = folder_.empty() ? "." : folder_.string();
  for (const File& f : files_) f.file->publish();
  make_durable(folder);
  fresh();
  try {
    make_durable(folder);
    for (const File& f : files_) f.file->also_commit();
    std::set<std::string> folders = {folder};
    for (const File& f : files_) folders.insert((folder_ / f.location).parent_path().string());
    for (const std::string& f : folders) make_durable(f);
    final();
  } catch (...) {
    for (const File& f : files_) f.file->keep();
    throw;
  }
  make_durable(folder);
  // The first one, which is locked, is removed last.
  for (auto it = files_.rbegin(); it != files_.rend(); ++it) it->file->retire();
}

bool is_fresh_location(std::string_view location) {
  return is_temporary_name(location, TemporaryKind::kData);
}

bool check_data_files(const fs::path& path, const std::set<std::string>& kept,
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
    const bool is_meant = std::any_of(
        old.begin(), old.end(), [&](const std::string& o) { return is_temporary_name_of(o, location); });
    if (!old.contains(location) && !is_meant && fs::is_regular_file(file, ec))
      refuse(fmt::format("the data file {} exists, but is not of the model {}, which is to be written; "
                         "another model may need it",
                         file.string(), path.string()),
             "Choose another name for the data file, or remove it first.");
  }
  for (const std::string& location : old) {
    const bool used =
        kept.contains(location) || std::find(written.begin(), written.end(), location) != written.end();
    const fs::path file = path.parent_path() / location;
    if (!used && !is_fresh_location(location) && fs::exists(file, ec))
      refuse(fmt::format("replacing the model {} would leave its external data {} without a model",
                         path.string(), file.string()),
             "Save under another name, or remove the old model with its data first.");
  }
  return std::any_of(old.begin(), old.end(), is_fresh_location);
}

}  // namespace assay
