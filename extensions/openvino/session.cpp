#include "session.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace ov {
namespace {

namespace ext = assay::ext;
namespace fs = std::filesystem;

/// A folder that is gone with its object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "assay-openvino-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw ext::Error("no folder could be made in " + fs::temp_directory_path().string() +
                       " for the model that OpenVINO reads. Set TMPDIR to a folder with space.");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// An input or output: what ONNX calls it, and where OpenVINO has it.
struct Slot {
  std::string name;
  int32_t dtype = 0;
  std::shared_ptr<Port> port;  // null: OpenVINO has no such input, since nothing needs it
};

class Session : public ext::Session {
 public:
  Session(std::shared_ptr<const Library> library, const ext::Model& model, const std::string& path,
          const SessionSettings& settings)
      : library_(std::move(library)), model_(model) {
    compile(read(path), settings);
    find_inputs();
    find_outputs();
    InferRequest* request = nullptr;
    library_->check(library_->ov_compiled_model_create_infer_request(compiled_.get(), &request),
                    "the model cannot be made ready for inference");
    request_ = owned(request, library_->ov_infer_request_free);
  }

  void describe(ext::TensorInfos& infos) override {
    // OpenVINO fills in what the graph does not say of an output.
    const std::vector<ext::Value> outputs = model_.graph().outputs();
    for (const ext::Value& v : model_.graph().inputs()) infos.add_input(v.name(), v.dtype(), v.dims());
    for (size_t i = 0; i < outputs.size(); ++i)
      infos.add_output(outputs[i].name(), outputs_[i].dtype, outputs[i].dims());
  }

  double infer(const std::vector<ext::Tensor>& inputs, ext::Outputs& outputs) override {
    if (inputs.size() != inputs_.size())
      throw ext::Error("it got " + std::to_string(inputs.size()) + " inputs and has " +
                       std::to_string(inputs_.size()));
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs_[i].port != nullptr) set_input(inputs_[i], inputs[i]);
    const auto start = std::chrono::steady_clock::now();
    library_->check(library_->ov_infer_request_infer(request_.get()), "inference failed");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (size_t i = 0; i < outputs_.size(); ++i) give_output(i, outputs);
    return took.count();
  }

 private:
  std::shared_ptr<Model> read(const std::string& path) {
    // A model that was changed, or that is text, has no file that OpenVINO can read.
    if (fs::path(path).extension() == ".onnx") return read_file(path);
    if (std::shared_ptr<Model> model = read_memory()) return model;
    folder_ = std::make_unique<TemporaryFolder>();
    const std::string file = (folder_->path() / "model.onnx").string();
    model_.save(file);
    return read_file(file);
  }

  std::shared_ptr<Model> read_file(const std::string& path) {
    Model* model = nullptr;
    library_->check(library_->ov_core_read_model(library_->core(), path.c_str(), nullptr, &model),
                    "the model cannot be read");
    return owned(model, library_->ov_model_free);
  }

  /// Null where the library cannot, or the model is too large for a message.
  std::shared_ptr<Model> read_memory() {
    if (library_->ov_core_read_model_from_memory_buffer == nullptr) return nullptr;
    std::optional<ext::Bytes> bytes;
    try {
      bytes = model_.serialize();
    } catch (const ext::Error& e) {
      ext::log(ext::Severity::kVerbose, std::string("OpenVINO gets the model in a file: ") + e.what());
      return nullptr;
    }
    const std::string_view view = bytes->view();
    Model* model = nullptr;
    library_->check(library_->ov_core_read_model_from_memory_buffer(library_->core(), view.data(),
                                                                    view.size(), nullptr, &model),
                    "the model cannot be read");
    return owned(model, library_->ov_model_free);
  }

  void compile(const std::shared_ptr<Model>& model, const SessionSettings& settings) {
    // The function takes as many texts as it is told to; those beyond are not looked at.
    std::array<const char*, 2 * kMaxProperties> p{};
    for (size_t i = 0; i < settings.properties.size(); ++i) {
      p.at(2 * i) = settings.properties[i].first.c_str();
      p.at(2 * i + 1) = settings.properties[i].second.c_str();
    }
    CompiledModel* compiled = nullptr;
    library_->check(
        library_->ov_core_compile_model(library_->core(), model.get(), settings.device.c_str(),
                                        2 * settings.properties.size(), &compiled, p[0], p[1], p[2], p[3],
                                        p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14],
                                        p[15], p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23], p[24],
                                        p[25], p[26], p[27], p[28], p[29], p[30], p[31]),
        "the model cannot be compiled for the device " + settings.device);
    compiled_ = owned(compiled, library_->ov_compiled_model_free);
  }

  ElementType type_of(const Port* port, const std::string& name) const {
    ElementType type = 0;
    library_->check(library_->ov_port_get_element_type(port, &type),
                    "the type of '" + name + "' is not known");
    return type;
  }

  void find_inputs() {
    for (const ext::Value& v : model_.graph().inputs()) {
      Slot slot{.name = v.name(), .dtype = v.dtype()};
      Port* port = nullptr;
      // One that no node needs may be missing.
      if (library_->ov_compiled_model_input_by_name(compiled_.get(), slot.name.c_str(), &port) == 0) {
        slot.port = owned(port, library_->ov_output_const_port_free);
        if (type_of(port, slot.name) != library_->element_type(slot.dtype))
          throw ext::Error("OpenVINO takes the input '" + slot.name + "' in another type than the model's");
      } else if (!v.consumers().empty()) {
        throw ext::Error("OpenVINO's model has no input '" + slot.name + "'");
      }
      inputs_.push_back(std::move(slot));
    }
  }

  /// By name; by position where OpenVINO has merged or renamed them, and has as many.
  void find_outputs() {
    const std::vector<ext::Value> values = model_.graph().outputs();
    size_t count = 0;
    library_->check(library_->ov_compiled_model_outputs_size(compiled_.get(), &count),
                    "the number of outputs is not known");
    for (size_t i = 0; i < values.size(); ++i) {
      Slot slot{.name = values[i].name(), .dtype = values[i].dtype()};
      Port* port = nullptr;
      Status status = library_->ov_compiled_model_output_by_name(compiled_.get(), slot.name.c_str(), &port);
      if (status != 0 && count == values.size())
        status = library_->ov_compiled_model_output_by_index(compiled_.get(), i, &port);
      library_->check(status, "OpenVINO's model has no output '" + slot.name + "'");
      slot.port = owned(port, library_->ov_output_const_port_free);
      const int32_t dtype = library_->onnx_type(type_of(port, slot.name));
      if (dtype == 0 || (slot.dtype != 0 && slot.dtype != dtype))
        throw ext::Error("OpenVINO gives the output '" + slot.name +
                         "' in another type than the model's, or in one that a module cannot hand on "
                         "(strings, 4-bit and 8-bit floating-point types)");
      slot.dtype = dtype;
      outputs_.push_back(std::move(slot));
    }
  }

  void set_input(const Slot& slot, const ext::Tensor& given) {
    ext::Dims dims = given.dims();
    Tensor* raw = nullptr;
    library_->check(library_->ov_tensor_create(library_->element_type(given.dtype()),
                                               Shape{static_cast<int64_t>(dims.size()), dims.data()}, &raw),
                    "no tensor for the input '" + slot.name + "'");
    const auto tensor = owned(raw, library_->ov_tensor_free);
    copy(tensor.get(), slot.name, given.bytes(),
         [&](void* to) { std::memcpy(to, given.data(), given.bytes()); });
    library_->check(
        library_->ov_infer_request_set_tensor_by_const_port(request_.get(), slot.port.get(), tensor.get()),
        "the input '" + slot.name + "' was refused");
  }

  /// Calls `move` with the tensor's memory, which must have this many bytes.
  template <typename Move>
  void copy(const Tensor* tensor, const std::string& name, uint64_t bytes, Move move) {
    size_t has = 0;
    library_->check(library_->ov_tensor_get_byte_size(tensor, &has),
                    "the size of '" + name + "' is not known");
    if (has != bytes)
      throw ext::Error("'" + name + "' has " + std::to_string(has) + " bytes in OpenVINO, and " +
                       std::to_string(bytes) + " were expected");
    if (bytes == 0) return;
    void* data = nullptr;
    library_->check(library_->ov_tensor_data(tensor, &data),
                    "the elements of '" + name + "' cannot be reached");
    move(data);
  }

  void give_output(size_t index, ext::Outputs& outputs) {
    const Slot& slot = outputs_[index];
    Tensor* raw = nullptr;
    library_->check(
        library_->ov_infer_request_get_tensor_by_const_port(request_.get(), slot.port.get(), &raw),
        "the output '" + slot.name + "' cannot be had");
    const auto tensor = owned(raw, library_->ov_tensor_free);
    Shape shape{};
    library_->check(library_->ov_tensor_get_shape(raw, &shape),
                    "the shape of '" + slot.name + "' is not known");
    const ext::Dims dims(shape.dims, shape.dims + shape.rank);
    library_->ov_shape_free(&shape);
    ElementType type = 0;
    library_->check(library_->ov_tensor_get_element_type(raw, &type),
                    "the type of '" + slot.name + "' is not known");
    if (library_->onnx_type(type) != slot.dtype)
      throw ext::Error("OpenVINO gave the output '" + slot.name + "' in another type than it had said");
    uint64_t bytes = element_bytes(slot.dtype);
    for (const int64_t d : dims) bytes *= static_cast<uint64_t>(d);
    void* to = outputs.give(index, slot.dtype, dims);
    copy(raw, slot.name, bytes, [&](const void* from) { std::memcpy(to, from, bytes); });
  }

  static uint64_t element_bytes(int32_t dtype) {
    switch (dtype) {
      case ext::kBool:
      case ext::kInt8:
      case ext::kUInt8:
        return 1;
      case ext::kInt16:
      case ext::kUInt16:
      case ext::kFloat16:
      case ext::kBFloat16:
        return 2;
      case ext::kInt32:
      case ext::kUInt32:
      case ext::kFloat32:
        return 4;
      default:
        return 8;
    }
  }

  std::shared_ptr<const Library> library_;
  ext::Model model_;
  std::unique_ptr<TemporaryFolder>
      folder_;  // weights of its file may be mapped: it is there as long as they are
  std::shared_ptr<CompiledModel> compiled_;
  std::vector<Slot> inputs_, outputs_;
  std::shared_ptr<InferRequest> request_;
};

}  // namespace

std::unique_ptr<ext::Session> open_session(std::shared_ptr<const Library> library, const ext::Model& model,
                                           const std::string& path, const SessionSettings& settings) {
  return std::make_unique<Session>(std::move(library), model.copy(), path, settings);
}

}  // namespace ov
