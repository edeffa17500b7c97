#include "cli/options/output_names.h"

#include <algorithm>

#include "base/log.h"
#include "naming/selector.h"

namespace assay::cli {

OutputNames::OutputNames(ModelLoaderOptions options) : options_(std::move(options)) {
  options_.convert_to_fp16 = false;  // would insert a Cast before each output
}

std::vector<std::string> OutputNames::expand(const std::string& option, const std::string& key) {
  if (!key.starts_with("op:")) return {key};
  if (options_.path.empty())
    log::critical(ErrorCode::kInvalidArgument,
                  "{}: {} names outputs by the nodes of a model, and none is given.", option, key);
  if (model_ == nullptr) model_ = ModelLoader(options_).load_quietly();
  return with_context([&] { return "in " + option; },
                      [&]() -> std::vector<std::string> {
                        const std::vector<Value*>& outputs = model_->graph->outputs;
                        const auto is_output = [&](const Value* v) {
                          return std::find(outputs.begin(), outputs.end(), v) != outputs.end();
                        };
                        const auto is_key = [&](const Value* v) { return v->name() == key; };
                        if (std::any_of(outputs.begin(), outputs.end(), is_key)) return {key};
                        std::vector<std::string> names;
                        for (const Value* v : select_values(*model_, key))
                          if (is_output(v)) names.push_back(v->name());
                        require(!names.empty(), ErrorCode::kNotFound,
                                "no node of {} computes an output of the model", key);
                        return names;
                      });
}

}  // namespace assay::cli
