#include "graph/export.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <unordered_set>

#include "base/atomic_file.h"
#include "graph/order.h"
#include "graph/to_text.h"
#include "onnx/text/reader.h"
#include "onnx/writer.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using onnx::MessageWriter;

/// No protobuf library reads a message of 2 GiB or more.
constexpr size_t kProtobufLimit = (size_t{1} << 31) - 1;
/// Offsets of external data are multiples of this, so that they can be mapped and read with wide loads.
constexpr size_t kExternalAlignment = 64;

/// Where an external initializer's data are, in the words of TensorProto.external_data.
struct Place {
  std::string location;
  size_t offset, length;
};

/// Decides which initializers become external and puts their data somewhere.
class DataPlacer {
 public:
  virtual ~DataPlacer() = default;
  virtual bool takes(const Value& v) const = 0;
  virtual Place add(const Value& v) = 0;
};

/// Keeps the data in memory and remembers whose they are.
class Detacher final : public DataPlacer {
 public:
  explicit Detacher(int64_t threshold) : threshold_(threshold) {}
  bool takes(const Value& v) const override {
    // Only the main graph's initializers can be handed over by name.
    return v.graph().parent() == nullptr && v.tensor().dtype() != DType::kString &&
           static_cast<int64_t>(v.tensor().nbytes()) > threshold_;
  }
  Place add(const Value& v) override {
    detached.push_back(&v);
    return {"in-memory", 0, v.tensor().nbytes()};
  }
  std::vector<const Value*> detached;

 private:
  int64_t threshold_;
};

/// Writes initializers' data to files of their own.
class ExternalWriter final : public DataPlacer {
 public:
  ExternalWriter(const fs::path& model_path, const ExportOptions& options) : options_(options) {
    folder_ = model_path.parent_path();
    location_ = options.external_data_path.empty() ? model_path.filename().string() + ".data"
                                                   : options.external_data_path;
    const fs::path relative(location_);
    require(relative.is_relative() && std::find(relative.begin(), relative.end(), "..") == relative.end(),
            ErrorCode::kInvalidArgument, "the external data path '{}' must lie in the model's folder",
            location_);
  }

  bool takes(const Value& v) const override {
    const Tensor& t = v.tensor();
    return t.dtype() != DType::kString && static_cast<int64_t>(t.nbytes()) > options_.external_data_threshold;
  }

  Place add(const Value& v) override {
    const Tensor& t = v.tensor();
    if (options_.one_file_per_tensor) {
      files_.clear_current();
      location_ = unique_file_name(v.name());
    }
    AtomicFile& file = files_.current(folder_ / location_);
    static constexpr char kZeros[kExternalAlignment] = {};
    const size_t padding = (kExternalAlignment - file.size() % kExternalAlignment) % kExternalAlignment;
    file.write({kZeros, padding});
    const Place place{location_, file.size(), t.nbytes()};
    file.write(t.data(), t.nbytes());
    return place;
  }
  void commit() { files_.commit(); }

 private:
  std::string unique_file_name(const std::string& name) {
    std::string file = name;
    for (char& ch : file)
      if (ch == '/' || ch == '\\' || ch == ':' || ch == '\0') ch = '_';
    if (file.empty() || file[0] == '.') file = "_" + file;
    std::string candidate = file;
    for (int i = 1; !names_.insert(candidate).second; ++i) candidate = file + "_" + std::to_string(i);
    return candidate;
  }

  /// All data files; they appear together, when everything is written.
  class Files {
   public:
    AtomicFile& current(const fs::path& path) {
      if (!current_) {
        list_.push_back(std::make_unique<AtomicFile>(path.string()));
        current_ = list_.back().get();
      }
      return *current_;
    }
    void clear_current() { current_ = nullptr; }
    void commit() {
      for (auto& f : list_) f->commit();
    }

   private:
    std::vector<std::unique_ptr<AtomicFile>> list_;
    AtomicFile* current_ = nullptr;
  };

  const ExportOptions& options_;
  fs::path folder_;
  std::string location_;
  Files files_;
  std::unordered_set<std::string> names_;
};

/// Turns the IR into messages. `external` is null when all data stay inside.
class Exporter {
 public:
  explicit Exporter(DataPlacer* external) : external_(external) {}
  MessageWriter model(const Model& m);

 private:
  MessageWriter graph(const Graph& g);
  MessageWriter function(const Function& f);
  MessageWriter node(const Node& n);
  MessageWriter attribute(const Attribute& a);
  MessageWriter tensor(const std::string& name, const std::string& doc, const Metadata& metadata,
                       const Tensor& t);
  MessageWriter initializer(const Value& v);
  MessageWriter sparse(const Attribute::Sparse& s);

  DataPlacer* external_;
};

void metadata(MessageWriter& w, uint32_t field, const Metadata& list) {
  for (const auto& [key, value] : list) {
    MessageWriter pair;
    pair.text(1, key);
    pair.text(2, value);
    w.message(field, pair);
  }
}

MessageWriter type_message(const Type& t) {
  const auto tensor_type = [&] {
    MessageWriter w;
    w.integer(1, static_cast<int64_t>(t.dtype));
    if (!t.dims) return w;
    MessageWriter shape;
    for (const Dim& d : *t.dims) {
      MessageWriter dim;
      if (d.is_known()) dim.integer(1, d.value());
      if (d.is_symbol()) dim.text(2, d.symbol());
      shape.message(1, dim);
    }
    w.message(2, shape);
    return w;
  };
  const auto container = [&](uint32_t element_field) {
    MessageWriter w;
    if (element_field == 2) w.integer(1, static_cast<int64_t>(t.dtype));
    if (t.element) w.message(element_field, type_message(*t.element));
    return w;
  };
  MessageWriter w;
  const auto denotation = [&] { w.text_if(6, t.denotation); };
  switch (t.kind) {
    case Type::Kind::kUnknown:
      denotation();
      break;
    case Type::Kind::kTensor:
      w.message(1, tensor_type()), denotation();
      break;
    case Type::Kind::kSequence:
      w.message(4, container(1)), denotation();
      break;
    case Type::Kind::kMap:
      w.message(5, container(2)), denotation();
      break;
    case Type::Kind::kOpaque:
      denotation(), w.message(7, {});
      break;
    case Type::Kind::kSparseTensor:
      denotation(), w.message(8, tensor_type());
      break;
    case Type::Kind::kOptional:
      denotation(), w.message(9, container(1));
      break;
  }
  return w;
}

MessageWriter value_info(const Value& v) {
  MessageWriter w;
  w.text(1, v.name());
  if (v.type.kind != Type::Kind::kUnknown) w.message(2, type_message(v.type));
  w.text_if(3, v.doc_string);
  metadata(w, 4, v.metadata);
  return w;
}

MessageWriter Exporter::tensor(const std::string& name, const std::string& doc, const Metadata& meta,
                               const Tensor& t) {
  MessageWriter w;
  for (const int64_t d : t.shape()) w.integer(1, d);
  w.integer(2, static_cast<int64_t>(t.dtype()));
  if (t.dtype() == DType::kString)
    for (const std::string& s : t.span<std::string>()) w.text(6, s);
  w.text_if(8, name);
  if (t.dtype() != DType::kString) w.borrowed(9, {static_cast<const char*>(t.data()), t.nbytes()});
  w.text_if(12, doc);
  metadata(w, 16, meta);
  return w;
}

MessageWriter Exporter::initializer(const Value& v) {
  const Tensor& t = v.tensor();
  require(t.defined(), ErrorCode::kInvalidArgument,
          "the data of initializer '{}' were not loaded and cannot be saved", v.name());
  if (external_ == nullptr || !external_->takes(v)) return tensor(v.name(), v.doc_string, v.metadata, t);
  const Place place = external_->add(v);
  MessageWriter w;
  for (const int64_t d : t.shape()) w.integer(1, d);
  w.integer(2, static_cast<int64_t>(t.dtype()));
  w.text(8, v.name());
  w.text_if(12, v.doc_string);
  metadata(w, 13,
           {{"location", place.location},
            {"offset", std::to_string(place.offset)},
            {"length", std::to_string(place.length)}});
  w.integer(14, 1);
  metadata(w, 16, v.metadata);
  return w;
}

MessageWriter Exporter::sparse(const Attribute::Sparse& s) {
  MessageWriter w;
  w.message(1, tensor({}, {}, {}, s.values));
  w.message(2, tensor({}, {}, {}, s.indices));
  for (const int64_t d : s.dims) w.integer(3, d);
  return w;
}

/// Writes the payload field of an attribute and yields AttributeProto.AttributeType.
struct AttributePayload {
  MessageWriter& w;
  Exporter& e;
  MessageWriter (Exporter::*graph)(const Graph&);
  MessageWriter (Exporter::*tensor)(const std::string&, const std::string&, const Metadata&, const Tensor&);
  MessageWriter (Exporter::*sparse)(const Attribute::Sparse&);

  int operator()(std::monostate) { return 0; }
  int operator()(float v) { return w.fixed32(2, v), 1; }
  int operator()(int64_t v) { return w.integer(3, v), 2; }
  int operator()(const std::string& v) { return w.text(4, v), 3; }
  int operator()(const Tensor& v) { return w.message(5, (e.*tensor)({}, {}, {}, v)), 4; }
  int operator()(const std::shared_ptr<Graph>& v) { return w.message(6, (e.*graph)(*v)), 5; }
  int operator()(const std::vector<float>& list) {
    for (const float v : list) w.fixed32(7, v);
    return 6;
  }
  int operator()(const std::vector<int64_t>& list) {
    for (const int64_t v : list) w.integer(8, v);
    return 7;
  }
  int operator()(const std::vector<std::string>& list) {
    for (const std::string& v : list) w.text(9, v);
    return 8;
  }
  int operator()(const std::vector<Tensor>& list) {
    for (const Tensor& v : list) w.message(10, (e.*tensor)({}, {}, {}, v));
    return 9;
  }
  int operator()(const Attribute::Graphs& list) {
    for (const auto& v : list) w.message(11, (e.*graph)(*v));
    return 10;
  }
  int operator()(const Type& v) { return w.message(14, type_message(v)), 13; }
  int operator()(const Attribute::Types& list) {
    for (const Type& v : list) w.message(15, type_message(v));
    return 14;
  }
  int operator()(const Attribute::Sparse& v) { return w.message(22, (e.*sparse)(v)), 11; }
  int operator()(const std::vector<Attribute::Sparse>& list) {
    for (const auto& v : list) w.message(23, (e.*sparse)(v));
    return 12;
  }
};

MessageWriter Exporter::attribute(const Attribute& a) {
  MessageWriter w;
  w.text(1, a.name);
  const int type =
      std::visit(AttributePayload{w, *this, &Exporter::graph, &Exporter::tensor, &Exporter::sparse}, a.data);
  w.text_if(13, a.doc_string);
  if (type != 0) w.integer(20, type);
  w.text_if(21, a.ref_attr_name);
  return w;
}

std::string_view name_of(const Value* v) {
  return v == nullptr ? std::string_view() : std::string_view(v->name());
}

MessageWriter Exporter::node(const Node& n) {
  MessageWriter w;
  for (const Value* v : n.inputs()) w.text(1, name_of(v));
  for (const Value* v : n.outputs()) w.text(2, name_of(v));
  w.text_if(3, n.name);
  w.text(4, n.op_type);
  for (const Attribute& a : n.attributes) w.message(5, attribute(a));
  w.text_if(6, n.doc_string);
  w.text_if(7, n.domain);
  w.text_if(8, n.overload);
  metadata(w, 9, n.metadata);
  return w;
}

/// Intermediate values that carry something worth a value_info entry.
bool wants_value_info(const Value& v, const std::unordered_set<const Value*>& listed) {
  return v.producer() != nullptr && !listed.contains(&v) &&
         (v.type.kind != Type::Kind::kUnknown || !v.metadata.empty());
}

MessageWriter Exporter::graph(const Graph& g) {
  MessageWriter w;
  for (const auto& n : g.nodes()) w.message(1, node(*n));
  w.text_if(2, g.name);
  for (const auto& v : g.values())
    if (v->is_constant()) w.message(5, initializer(*v));
  w.text_if(10, g.doc_string);
  std::unordered_set<const Value*> listed(g.inputs.begin(), g.inputs.end());
  listed.insert(g.outputs.begin(), g.outputs.end());
  for (const Value* v : g.inputs) w.message(11, value_info(*v));
  for (const auto& v : g.values())
    if (v->is_overridable) w.message(11, value_info(*v));
  for (const Value* v : g.outputs) w.message(12, value_info(*v));
  for (const auto& v : g.values())
    if (wants_value_info(*v, listed)) w.message(13, value_info(*v));
  for (const auto& [name, parameters] : g.quantization_annotations) {
    MessageWriter q;
    q.text(1, name);
    metadata(q, 2, parameters);
    w.message(14, q);
  }
  metadata(w, 16, g.metadata);
  return w;
}

MessageWriter opset_message(const OpsetImport& o) {
  MessageWriter w;
  w.text(1, o.domain);
  w.integer(2, o.version);
  return w;
}

MessageWriter Exporter::function(const Function& f) {
  MessageWriter w;
  w.text(1, f.name);
  for (const Value* v : f.body->inputs) w.text(4, v->name());
  for (const Value* v : f.body->outputs) w.text(5, v->name());
  for (const std::string& a : f.attribute_names) w.text(6, a);
  for (const auto& n : f.body->nodes()) w.message(7, node(*n));
  w.text_if(8, f.doc_string);
  for (const OpsetImport& o : f.opsets) w.message(9, opset_message(o));
  w.text_if(10, f.domain);
  for (const Attribute& a : f.attribute_defaults) w.message(11, attribute(a));
  const std::unordered_set<const Value*> listed(f.body->outputs.begin(), f.body->outputs.end());
  for (const auto& v : f.body->values())
    if (wants_value_info(*v, listed)) w.message(12, value_info(*v));
  w.text_if(13, f.overload);
  metadata(w, 14, f.metadata);
  return w;
}

MessageWriter Exporter::model(const Model& m) {
  check_depth(m);
  MessageWriter w;
  w.integer(1, m.ir_version);
  w.text_if(2, m.producer_name);
  w.text_if(3, m.producer_version);
  w.text_if(4, m.domain);
  if (m.model_version != 0) w.integer(5, m.model_version);
  w.text_if(6, m.doc_string);
  w.message(7, graph(*m.graph));
  for (const OpsetImport& o : m.opsets) w.message(8, opset_message(o));
  metadata(w, 14, m.metadata);
  for (const Function& f : m.functions) w.message(25, function(f));
  return w;
}

size_t data_bytes(const Graph& g) {
  size_t n = 0;
  for (const auto& v : g.values())
    if (v->tensor().defined()) n += v->tensor().nbytes();
  return n;
}

/// The model as text, its large initializers where `data` puts them, if that is not null.
void save_text(const Model& model, const std::string& path, ExternalWriter* data) {
  TextOptions options;
  if (data != nullptr)
    options.place = [data](const Value& v) -> std::optional<TextPlace> {
      if (!data->takes(v)) return std::nullopt;
      const Place place = data->add(v);
      return TextPlace{place.location, place.offset, place.length};
    };
  const std::string text = to_text(model, options);
  AtomicFile file(path);
  file.write(text);
  if (data != nullptr) data->commit();
  file.commit();
}

}  // namespace

void save_model(const Model& model, const std::string& path, const ExportOptions& options) {
  const bool external =
      options.external_data || data_bytes(*model.graph) > kProtobufLimit - (size_t{1} << 24);
  std::unique_ptr<ExternalWriter> data;
  if (external) data = std::make_unique<ExternalWriter>(path, options);
  if (onnx::has_text_suffix(path)) return save_text(model, path, data.get());
  const MessageWriter message = Exporter(data.get()).model(model);
  require(message.size() <= kProtobufLimit, ErrorCode::kInvalidArgument,
          "the model needs {} bytes, more than protobuf's limit of 2 GB, even with external data",
          message.size());
  AtomicFile file(path);
  message.write_to([&](std::string_view bytes) { file.write(bytes); });
  if (data) data->commit();
  file.commit();
}

DetachedModel detach_initializers(const Model& model, int64_t threshold) {
  Detacher detacher(threshold);
  const MessageWriter message = Exporter(&detacher).model(model);
  DetachedModel out;
  message.write_to([&](std::string_view piece) { out.bytes += piece; });
  out.detached = std::move(detacher.detached);
  return out;
}

std::string serialize_model(const Model& model) {
  const MessageWriter message = Exporter(nullptr).model(model);
  require(message.size() <= kProtobufLimit, ErrorCode::kInvalidArgument,
          "the model needs {} bytes, more than protobuf's limit of 2 GB", message.size());
  std::string bytes;
  bytes.reserve(message.size());
  message.write_to([&](std::string_view piece) { bytes += piece; });
  return bytes;
}

size_t serialized_size(const Model& model) { return Exporter(nullptr).model(model).size(); }

}  // namespace assay
