// Converts a model from one version of an operator set to another.
#pragma once

#include <cstdint>
#include <string_view>

#include "assay/graph.h"
#include "convert/conversion.h"

namespace assay {

/// Rewrites every node of the domain, in subgraphs and local functions too, so that it means in the wanted
/// version what it meant, and sets the import and the IR version. Nodes of other domains, and operators that
/// this build does not know, stay as they are. Types of values stay as declared. Throws Error when the
/// version is out of range, the model does not import the domain, or a node breaks its operator's form
/// (check_forms()).
ConvertReport convert_opset(Model& model, const ConvertOptions& options);

/// The IR version released with a version of a domain's operators. 0 for other domains.
int64_t ir_version_for(std::string_view domain, int64_t version);
/// The oldest IR version that can represent the model: functions, metadata, element types, overloads.
int64_t ir_version_of_features(const Model& model);
/// Changes only the model's IR version. Throws Error (kInvalidArgument) for one that this build does not
/// write, and, naming the reason, if the model needs a newer one.
void change_ir_version(Model& model, int64_t version);

}  // namespace assay
