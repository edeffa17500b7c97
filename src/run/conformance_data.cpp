#include "run/conformance_data.h"

#include <algorithm>
#include <filesystem>

#include "base/json_reader.h"
#include "base/mapped_file.h"
#include "onnx/container_data.h"
#include "onnx/tensor_data.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

Tensor load_value(const std::string& path, const Type& type) {
  switch (type.kind) {
    case Type::Kind::kSequence:
      return onnx::load_container_file(path, DType::kSequence);
    case Type::Kind::kOptional:
      return onnx::load_container_file(path, DType::kOptional);
    case Type::Kind::kMap:
      return onnx::load_container_file(path, DType::kMap);
    default:
      return onnx::load_tensor_file(path);
  }
}

}  // namespace

ConformanceTolerance conformance_tolerance(const std::string& folder) {
  ConformanceTolerance tolerance;
  const std::string path = (fs::path(folder) / "data.json").string();
  if (!fs::exists(path)) return tolerance;
  const auto file = MappedFile::open(path);
  JsonReader json(file->bytes(), path);
  json.expect(JsonEvent::kBeginObject, "the case's data");
  while (json.next_key()) {
    if (json.string() == "rtol")
      tolerance.rtol = json.expect_double("rtol");
    else if (json.string() == "atol")
      tolerance.atol = json.expect_double("atol");
    else
      json.skip_value();
  }
  return tolerance;
}

std::vector<std::string> conformance_cases(const std::string& root) {
  if (fs::exists(fs::path(root) / "model.onnx")) return {root};
  std::vector<std::string> cases;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().filename() == "model.onnx") cases.push_back(entry.path().parent_path().string());
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::vector<std::string> conformance_data_sets(const std::string& folder) {
  std::vector<std::string> sets;
  for (;;) {
    const fs::path data = fs::path(folder) / fmt::format("test_data_set_{}", sets.size());
    if (!fs::is_directory(data)) break;
    sets.push_back(data.string());
  }
  require(!sets.empty(), ErrorCode::kNotFound, "the case has no folder test_data_set_0");
  return sets;
}

std::vector<Tensor> load_conformance_values(const std::string& data_set, const std::string& prefix,
                                            const std::vector<Type>& types) {
  std::vector<Tensor> list;
  for (size_t i = 0; i < types.size(); ++i) {
    const fs::path file = fs::path(data_set) / fmt::format("{}_{}.pb", prefix, i);
    if (!fs::exists(file)) break;
    list.push_back(load_value(file.string(), types[i]));
  }
  return list;
}

}  // namespace assay
