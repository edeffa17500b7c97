#include "run/test_case.h"

#include <fmt/format.h>

#include <filesystem>

#include "assay/io.h"
#include "backends/onnxrt_nodes.h"
#include "backends/session_info.h"
#include "base/atomic_file.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/tensor_message.h"
#include "ops/infer.h"
#include "ops/value_type.h"
#include "passes/pass_list.h"
#include "reference/interpreter.h"
#include "run/runner.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// TensorProto.string_data.
constexpr uint32_t kStringData = 6;

void save_tensor(const NamedTensor& t, const std::string& path) {
  require(!t.tensor.is_container(), ErrorCode::kUnsupported,
          "'{}' is no tensor, which a test case cannot have here", t.name);
  onnx::MessageWriter message;
  write_tensor_type(message, t.tensor.dtype(), t.tensor.shape());
  if (t.tensor.dtype() == DType::kString)
    for (const std::string& s : t.tensor.span<std::string>()) message.text(kStringData, s);
  message.text(tensor_field::kName, t.name);
  if (t.tensor.dtype() != DType::kString)
    message.borrowed(tensor_field::kRawData, {static_cast<const char*>(t.tensor.data()), t.tensor.nbytes()});
  AtomicFile file(path);
  message.write_to([&](std::string_view piece) { file.write(piece); });
  file.commit();
}

TensorList evaluate(const std::shared_ptr<const Model>& model, const TensorList& inputs) {
  std::vector<Tensor> feed;
  for (const NamedTensor& t : inputs) feed.push_back(t.tensor);
  TensorList outputs;
  for (const Value* v : model->graph->outputs) outputs.push_back({v->name(), {}});
  Interpreter interpreter(model, {.foreign = onnxrt_nodes(model)});
  interpreter.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
    const DType declared = leaf_dtype(v.type);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (model->graph->outputs[i] == &v)
        outputs[i].tensor = rounded(lanes[0], is_float(declared) ? declared : DType::kFloat32);
  });
  return outputs;
}

}  // namespace

TestCase make_test_case(const Model& model, const TensorList& given, const DataLoaderOptions& random) {
  TestCase test;
  const std::shared_ptr<Model> own = clone_model(model);
  test.model = own;
  const std::vector<TensorInfo> infos = tensor_infos(own->graph->inputs);
  const DataLoader loader(random, DataLoader::Report::kNo);
  for (const TensorInfo& info : infos) {
    const Tensor* found = find(given, info.name);
    const bool fits =
        found != nullptr && found->dtype() == info.type.dtype && shape_fits(found->shape(), info.type.dims);
    test.inputs.push_back(fits ? NamedTensor{info.name, *found}
                               : loader.load(0, {info}, DataLoader::Report::kNo).front());
  }
  try {
    const std::shared_ptr<Model> evaluated = clone_model(model);
    if (!evaluated->functions.empty()) pass_inline_functions::def.run(*evaluated);
    sort_topologically(*evaluated->graph);
    infer_shapes(*evaluated, {.on_problem = [](const Node&, const std::string&) {}});
    test.outputs = evaluate(evaluated, test.inputs);
  } catch (const Error& e) {
    test.outputs_problem = e.what();
  }
  return test;
}

void require_no_test_case(const std::string& folder) {
  std::error_code failed;
  require(!fs::exists(fs::path(folder) / "model.onnx", failed) &&
              !fs::exists(fs::path(folder) / "test_data_set_0", failed),
          ErrorCode::kInvalidArgument, "{} has a test case already: name another folder", folder);
}

void save_test_case(const TestCase& test, const std::string& folder) {
  require_no_test_case(folder);
  const fs::path root(folder), data = root / "test_data_set_0";
  std::error_code failed;
  fs::create_directories(data, failed);
  require(!failed, ErrorCode::kIo, "cannot make the folder {}: {}", data.string(), failed.message());
  save_model(*test.model, (root / "model.onnx").string(), {});
  const auto save_all = [&](const TensorList& list, const char* prefix) {
    for (size_t i = 0; i < list.size(); ++i)
      save_tensor(list[i], (data / fmt::format("{}_{}.pb", prefix, i)).string());
  };
  save_all(test.inputs, "input");
  save_all(test.outputs, "output");
}

}  // namespace assay
