#include "compare/outputs.h"

namespace assay {

OutputList::OutputList(std::string runner_name, TensorList outputs)
    : runner_name_(std::move(runner_name)), outputs_(std::move(outputs)) {
  for (const NamedTensor& output : outputs_) names_.push_back(output.name);
}

}  // namespace assay
