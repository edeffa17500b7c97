// A model with inputs and what it is to give for them, in the layout of ONNX's own test cases.
#pragma once

#include <memory>
#include <string>

#include "assay/graph.h"
#include "assay/tensor.h"
#include "run/data_loader.h"

namespace assay {

struct TestCase {
  std::shared_ptr<const Model> model;
  TensorList inputs;
  TensorList outputs;           ///< empty: they are not known
  std::string outputs_problem;  ///< why they are not
};

/// The inputs are those of `given` that have the name, type and shape; the others are drawn as `random` says.
/// The outputs are the float64 reference's, rounded to their types. Throws Error for inputs that no numbers
/// can be drawn for.
TestCase make_test_case(const Model& model, const TensorList& given, const DataLoaderOptions& random);

/// Throws Error (kInvalidArgument) where the folder has a test case.
void require_no_test_case(const std::string& folder);

/// FOLDER/model.onnx and FOLDER/test_data_set_0/{input,output}_N.pb, as `check conformance` reads them.
/// Throws Error: kIo, as require_no_test_case(), kUnsupported for containers.
void save_test_case(const TestCase& test, const std::string& folder);

}  // namespace assay
