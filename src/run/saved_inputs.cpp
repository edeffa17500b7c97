#include "run/saved_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "base/python_repr.h"
#include "base/similar_name.h"
#include "base/wording.h"
#include "run/data_source.h"
#include "run/results.h"

namespace assay {
namespace {

constexpr uintmax_t kMaxBytes = uintmax_t{256} << 20;

void require_names(const std::string& file, const StoredTensorList& iteration,
                   const std::vector<TensorInfo>& inputs) {
  std::vector<std::string> held;
  for (const auto& entry : iteration) held.push_back(entry.name);
  for (const TensorInfo& input : inputs) {
    if (std::find(held.begin(), held.end(), input.name) != held.end()) continue;
    Error e(ErrorCode::kInvalidArgument,
            fmt::format("{} has no data for the input '{}' of the model; it has {}", file, input.name,
                        python_list_repr(held)));
    throw set_remedy(e, Say::kNameInputs);
  }
}

}  // namespace

void require_saved_inputs_fit(const std::vector<std::string>& paths, const std::vector<TensorInfo>& inputs) {
  for (const std::string& path : paths)
    for (const std::string& file : iteration_files(path)) {
      std::error_code ec;
      if (std::filesystem::file_size(file, ec) > kMaxBytes || ec) continue;
      const InputData data = load_inputs(file);
      if (!data.empty()) require_names(file, data.front(), inputs);
    }
}

}  // namespace assay
