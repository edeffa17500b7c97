// Networks inside plan files.
#include "assay/io.h"
#include "base/mapped_file.h"
#include "engine/plan/plan_file.h"
#include "graph/import.h"

namespace assay::engine {
namespace {

void check(bool condition, const std::string& sentence) {
  if (!condition) fail(ErrorCode::kInvalidModel, "the plan is damaged: {}", sentence);
}

std::shared_ptr<const Model> read_network(const NetworkBytes& network,
                                          const std::shared_ptr<const OpSet>& ops) {
  const std::shared_ptr<Model> out =
      parse_model(network.message, network.owner, network.file,
                  {.ignore_external_data = true, .allow_weightless = true, .ops = ops});
  for (const auto& [name, t] : network.weights) {
    Value* v = out->graph->find_value(name);
    check(v != nullptr && v->is_constant() && v->producer() == nullptr,
          fmt::format("the weight '{}' is not one of its network", name));
    check(t.defined() && t.dtype() == v->type.dtype && v->type.dims == std::optional(to_dims(t.shape())),
          fmt::format("the weight '{}' has another type in the network", name));
    v->set_tensor(t);
  }
  return out;
}

}  // namespace

SavedEngine parse_engine(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                         std::string_view environment, std::shared_ptr<const OpSet> ops) {
  return parse_engine(bytes, std::move(owner), name, environment,
                      [&](const NetworkBytes& network) { return read_network(network, ops); });
}

SavedEngine load_engine(const std::string& path, std::string_view environment,
                        std::shared_ptr<const OpSet> ops) {
  const std::shared_ptr<const MappedFile> mapped = MappedFile::open(path);
  return parse_engine(mapped->bytes(), mapped, path, environment, std::move(ops));
}

}  // namespace assay::engine
