#include "graph/damaged_model.h"

#include "assay/error.h"
#include "fuzz/targets/model_inputs.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_damaged_model {
namespace {

void run(std::string_view input) {
  const std::optional<DamagedModel> model = read_damaged_model(input, "node 'a' (Add)");
  if (!model) return;
  require(!model->nodes.empty() && (!model->place || *model->place < model->nodes.size()),
          ErrorCode::kInternal, "the place is no node");
  size_t bytes = model->name.size();
  for (const DamagedNode& n : model->nodes) {
    bytes += n.name.size() + n.op_type.size() + n.domain.size();
    for (const auto* list : {&n.inputs, &n.outputs})
      for (const std::string& name : *list) bytes += name.size();
  }
  require(bytes <= input.size(), ErrorCode::kInternal, "there is more than the file has");
}

}  // namespace

constinit const Target def = {.name = "damaged_model",
                              .run = run,
                              .seeds = binary_models,
                              .mutate = mutate_protobuf,
                              .words = kTextWords};

}  // namespace assay::fuzz::target_damaged_model
