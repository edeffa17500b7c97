#include "assay/runners.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <map>
#include <mutex>

#include "assay/error.h"
#include "backends/engine_session.h"
#include "base/similar_name.h"

namespace assay::poly {
namespace {

/// Names are unique within the process, as in Polygraphy.
std::string next_name(const std::string& prefix) {
  static std::mutex mutex;
  static std::map<std::string, int> counts;
  const std::lock_guard lock(mutex);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%m/%d/%y-%H:%M:%S", &local);
  return fmt::format("{}-N{}-{}", prefix, counts[prefix]++, text);
}

bool fits(const Shape& shape, const Type& type) {
  if (!type.has_shape()) return true;
  if (type.dims->size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if ((*type.dims)[i].is_known() && (*type.dims)[i].value() != shape[i]) return false;
  return true;
}

}  // namespace

BaseRunner::BaseRunner(const std::string& prefix, std::string name)
    : name_(name.empty() ? next_name(prefix) : std::move(name)) {}

void BaseRunner::activate() {
  require(!is_active_, ErrorCode::kInvalidArgument, "the runner {} is active already", name_);
  with_context([&] { return "in the runner " + name_; }, [&] { activate_impl(); });
  is_active_ = true;
}

void BaseRunner::deactivate() {
  if (!is_active_) return;
  is_active_ = false;
  deactivate_impl();
}

std::vector<TensorInfo> BaseRunner::get_input_metadata() {
  require(is_active_, ErrorCode::kInvalidArgument,
          "the runner {} is not active: activate() it, or make an Active", name_);
  return get_input_metadata_impl();
}

TensorList BaseRunner::infer(const FeedDict& feed_dict) {
  const std::vector<TensorInfo> infos = get_input_metadata();
  TensorList inputs;
  for (const TensorInfo& info : infos) {
    const auto it = feed_dict.find(info.name);
    require(it != feed_dict.end(), ErrorCode::kInvalidArgument, "the input '{}' of the runner {} is missing",
            info.name, name_);
    const Tensor& t = it->second;
    require(!info.type.is_tensor() || info.type.dtype == DType::kUndefined || t.dtype() == info.type.dtype,
            ErrorCode::kInvalidArgument, "the input '{}' of the runner {} is of type {}, not {}", info.name,
            name_, dtype_name(info.type.dtype), dtype_name(t.dtype()));
    require(!info.type.is_tensor() || fits(t.shape(), info.type), ErrorCode::kInvalidArgument,
            "the input '{}' of the runner {} has the shape {}, not {}", info.name, name_,
            dims_str(info.type.dims.value_or(Dims())), t.shape().str());
    inputs.push_back({info.name, t});
  }
  for (const auto& [name, tensor] : feed_dict) {
    std::vector<std::string> names;
    for (const TensorInfo& info : infos) names.push_back(info.name);
    require(std::find(names.begin(), names.end(), name) != names.end(), ErrorCode::kInvalidArgument,
            "the runner {} has no input '{}'; it has: {}", name_, name, fmt::join(names, ", "));
  }
  seconds_ = -1;
  const auto start = std::chrono::steady_clock::now();
  TensorList outputs =
      with_context([&] { return "in the runner " + name_; }, [&] { return infer_impl(inputs); });
  if (seconds_ < 0)
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outputs;
}

TensorList SessionRunner::infer_impl(const TensorList& inputs) {
  std::vector<Tensor> feed;
  for (const NamedTensor& t : inputs) feed.push_back(t.tensor);
  const std::vector<TensorInfo>& infos = session_->outputs();
  TensorList outputs(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) outputs[i].name = infos[i].name;
  session_->run(feed, [&](size_t i, Tensor t) { outputs[i].tensor = std::move(t); });
  set_inference_time(session_->last_run_seconds());
  return outputs;
}

void TrtRunner::activate_impl() {
  engine_ = make_();
  context_ = engine_->create_execution_context();
  if (profile_ != 0) context_->set_optimization_profile(profile_);
}

void TrtRunner::deactivate_impl() {
  context_ = nullptr;
  engine_ = nullptr;
}

void TrtRunner::set_profile(size_t index) {
  context().set_optimization_profile(index);
  profile_ = index;
}

ExecutionContext& TrtRunner::context() {
  require(context_ != nullptr, ErrorCode::kInvalidArgument,
          "the runner {} is not active: activate() it, or make an Active", name());
  return *context_;
}

std::vector<TensorInfo> TrtRunner::get_input_metadata_impl() { return inputs_in_profile(*engine_, profile_); }

TensorList TrtRunner::infer_impl(const TensorList& inputs) {
  std::vector<Tensor> feed;
  for (const NamedTensor& t : inputs) feed.push_back(t.tensor);
  std::vector<Tensor> results = context_->infer(feed);
  const std::vector<IoTensor> infos = engine_->outputs();
  TensorList outputs;
  for (size_t i = 0; i < results.size(); ++i) outputs.push_back({infos[i].name, std::move(results[i])});
  return outputs;
}

}  // namespace assay::poly
