// The files of a case in the layout of ONNX's backend tests: a folder with model.onnx,
// test_data_set_N/{input,output}_M.pb and, if it needs other tolerances, data.json.
#pragma once

#include <string>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// |actual - expected| <= atol + rtol * |expected|, as ONNX's own runner checks.
struct ConformanceTolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};

/// The tolerances in the case's data.json; those above where it has none.
ConformanceTolerance conformance_tolerance(const std::string& folder);

/// The case folders below `root`, sorted; `root` itself when it is one.
std::vector<std::string> conformance_cases(const std::string& root);

/// The data set folders of a case, in order. Throws Error (kNotFound) when there is none.
std::vector<std::string> conformance_data_sets(const std::string& folder);

/// The values of the files `<prefix>_0.pb`, ... of a data set, one for each type; the type determines which
/// of ONNX's messages a file contains. Stops where a file is missing.
std::vector<Tensor> load_conformance_values(const std::string& data_set, const std::string& prefix,
                                            const std::vector<Type>& types);

}  // namespace assay
