#include "assay/error.h"
#include "fuzz/targets/model_inputs.h"
#include "fuzz/targets/target.h"
#include "graph/import.h"
#include "graph/to_text.h"

namespace assay::fuzz::target_onnx {
namespace {

void run(std::string_view input) {
  const auto nobody = std::shared_ptr<const void>(&input, [](const void*) {});
  const std::shared_ptr<Model> model =
      parse_model(input, nobody, "input", {.external_data_dir = "/proc/self/fdinfo"});
  const std::string text = to_text(*model, {.max_elements = 4, .visible = true});
  for (const char c : text)
    require(c == '\n' || c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f),
            ErrorCode::kInternal, "a control character is shown");
}

}  // namespace

constinit const Target def = {
    .name = "onnx", .run = run, .seeds = binary_models, .mutate = mutate_protobuf, .words = kTextWords};

}  // namespace assay::fuzz::target_onnx
