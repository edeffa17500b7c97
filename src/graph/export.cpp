#include "graph/export.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/atomic_file.h"
#include "base/folder_lock.h"
#include "base/stale_temporaries.h"
#include "graph/external_data.h"
#include "graph/model_message.h"
#include "graph/to_text.h"
#include "onnx/messages.h"
#include "onnx/text/reader.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using onnx::MessageWriter;

/// No protobuf library reads a message of 2 GiB or more.
constexpr size_t kProtobufLimit = (size_t{1} << 31) - 1;
/// Room for everything that is not tensor data.
constexpr size_t kStructureAllowance = size_t{1} << 24;

/// Keeps the data in memory and records their tensors.
class Detacher final : public DataPlacer {
 public:
  explicit Detacher(int64_t threshold) : threshold_(threshold) {}
  bool takes(const Value& v) const override {
    // Only the main graph's initializers can be passed by name.
    return v.graph().parent() == nullptr && v.tensor().dtype() != DType::kString &&
           static_cast<int64_t>(v.tensor().nbytes()) > threshold_;
  }
  /// ONNX Runtime removes unused initializers before it looks up the passed data.
  bool drops(const Value& v) const override {
    const std::vector<Value*>& outputs = v.graph().outputs;
    return v.consumers().empty() && !v.is_overridable &&
           std::find(outputs.begin(), outputs.end(), &v) == outputs.end();
  }
  DataPlace add(const Value& v) override {
    detached.push_back(&v);
    return {"in-memory", 0, v.tensor().nbytes()};
  }
  std::vector<const Value*> detached;

 private:
  int64_t threshold_;
};

/// Bytes of the initializers that the message itself would hold.
size_t inner_bytes(const Graph& g, bool keep_references) {
  size_t n = 0;
  for (const auto& v : g.values()) {
    const TensorSource* source = v->tensor_source();
    const bool refers =
        keep_references && source != nullptr && source->is_external && source->data == v->tensor().data();
    if (v->tensor().defined() && !refers) n += v->tensor().nbytes();
  }
  return n;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

/// External data next to a file can be referred to only from that folder.
bool lies_beside_data(const Model& model, const fs::path& path) {
  std::error_code ec;
  return !model.external_data_folder.empty() &&
         fs::equivalent(folder_of(path), model.external_data_folder, ec);
}

/// Location of an unchanged tensor from an external file; nothing for others.
std::optional<TextPlace> place_of(const Value& v) {
  const TensorSource* source = v.tensor_source();
  if (source == nullptr || !source->is_external || source->data != v.tensor().data()) return std::nullopt;
  const onnx::TensorMessage m = onnx::read_tensor(source->bytes);
  TextPlace place{.location = {}, .offset = 0, .length = v.tensor().nbytes(), .checksum = {}};
  for (const auto& [key, value] : m.external_data) {
    if (key == "location") place.location = value;
    if (key == "checksum") place.checksum = value;
    // The reader has checked that it is a number.
    if (key == "offset") std::from_chars(value.data(), value.data() + value.size(), place.offset);
  }
  return place;
}

/// The model as text; large initializers are placed by `data` unless that is null.
std::string to_text(const Model& model, ExternalDataWriter* data, bool keep,
                    std::set<std::string>& locations) {
  TextOptions options;
  options.place = [data, keep, &locations](const Value& v) -> std::optional<TextPlace> {
    if (data != nullptr && data->takes(v)) {
      DataPlace place = data->add(v);
      return TextPlace{std::move(place.location), place.offset, place.length, std::move(place.checksum)};
    }
    std::optional<TextPlace> place = keep ? place_of(v) : std::nullopt;
    if (place) locations.insert(fs::path(place->location).lexically_normal().string());
    return place;
  };
  return to_text(model, options);
}

/// Writes a model's file.
class ModelWriter {
 public:
  ModelWriter(const Model& model, std::string path, bool keep)
      : model_(model), is_text_(onnx::has_text_suffix(path)), keep_(keep) {}

  /// Large initializers are placed by `data` unless that is null.
  void write(AtomicFile& file, ExternalDataWriter* data) {
    if (is_text_) return file.write(to_text(model_, data, keep_, kept_));
    const MessageWriter message = this->message(data);
    require(message.size() <= kProtobufLimit, ErrorCode::kInvalidArgument,
            "the model needs {} bytes, more than protobuf's limit of 2 GB, even with external data",
            message.size());
    message.write_to([&](std::string_view bytes) { file.write(bytes); });
  }
  /// Announces to `data` the initializers to come.
  void collect(ExternalDataWriter& data) {
    if (is_text_)
      (void)to_text(model_, &data, keep_, kept_);
    else
      (void)message(&data);
  }
  /// The locations that are referred to, except those of `data`.
  const std::set<std::string>& kept() const { return kept_; }
  /// True when one of them was left by an interrupted save: it is replaced with the model that names it.
  bool keeps_fresh_data() const { return std::any_of(kept_.begin(), kept_.end(), is_fresh_location); }

 private:
  MessageWriter message(ExternalDataWriter* data) {
    return model_message(model_, {.placer = data, .keep_references = keep_, .locations = &kept_});
  }

  const Model& model_;
  bool is_text_, keep_;
  std::set<std::string> kept_;
};

/// Performs the replacement, or its last step.
void put_in_place(const std::string& path, const ModelWriter& writer,
                  const std::vector<std::string>& locations, const std::function<void()>& last_step) {
  // Two programs that write the same files take turns.
  const FolderLock lock(folder_of(path).string());
  const bool leaves_data = check_data_files(path, writer.kept(), locations);
  last_step();
  if (leaves_data) remove_stale_temporaries(folder_of(path).string());
}

/// False, and nothing is done, when references cannot be kept.
bool save_with_data(ModelWriter& writer, const std::string& path, const ExportOptions& options) {
  using Names = ExternalDataWriter::Names;
  std::error_code ec;
  require(!fs::exists(path, ec) || fs::is_regular_file(path, ec) || fs::is_directory(path, ec),
          ErrorCode::kIo,
          "cannot write {} with external data: it is not a regular file, so that nothing can lie beside it",
          path);
  ExternalDataWriter data(path, options);
  writer.collect(data);
  if (writer.keeps_fresh_data()) return false;
  data.write();
  AtomicFile fresh(path), final(path);
  data.use(Names::kFresh);
  writer.write(fresh, &data);
  fresh.prepare();
  data.use(Names::kFinal);
  writer.write(final, &data);
  final.prepare();
  put_in_place(path, writer, data.locations(), [&] {
    const InterruptDelay delay;
    data.put_in_place([&] { fresh.commit(); }, [&] { final.commit(); });
  });
  return true;
}

bool save(const Model& model, const std::string& path, const ExportOptions& options, bool keep) {
  const bool external =
      options.external_data || inner_bytes(*model.graph, keep) > kProtobufLimit - kStructureAllowance;
  ModelWriter writer(model, path, keep);
  if (external) return save_with_data(writer, path, options);
  AtomicFile file(path);
  writer.write(file, nullptr);
  if (writer.keeps_fresh_data()) return false;
  file.prepare();
  put_in_place(path, writer, {}, [&] { file.commit(); });
  return true;
}

}  // namespace

size_t inner_data_bytes(const Model& model, const std::string& path) {
  return inner_bytes(*model.graph, lies_beside_data(model, path));
}

void save_model(const Model& model, const std::string& path, const ExportOptions& options) {
  // Data next to the new file stay there, unless a data file was named.
  const bool keep = !options.external_data && lies_beside_data(model, path);
  if (!save(model, path, options, keep)) save(model, path, options, false);
}

DetachedModel detach_initializers(const Model& model, int64_t threshold) {
  Detacher detacher(threshold);
  DetachedModel out{.bytes = model_message(model, {.placer = &detacher}).bytes(), .detached = {}};
  out.detached = std::move(detacher.detached);
  return out;
}

std::string serialize_model(const Model& model) {
  const MessageWriter message = model_message(model, {});
  require(message.size() <= kProtobufLimit, ErrorCode::kInvalidArgument,
          "the model needs {} bytes, more than protobuf's limit of 2 GB", message.size());
  return message.bytes();
}

size_t serialized_size(const Model& model) { return model_message(model, {}).size(); }

}  // namespace assay
