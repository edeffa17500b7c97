// Models of one random node with random inputs: some right, many wrong.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "fuzz/random.h"
#include "ops/op_def.h"

namespace assay::fuzz {

struct Case {
  std::shared_ptr<Model> model;
  std::vector<Tensor> feed;  ///< of the model's inputs
};

/// A node of this version with arity, types, shapes, values and attributes near to what its schema asks for;
/// the inputs' declared types are those of the tensors, or unknown.
Case random_case(const OpDef& op, const OpVersion& version, Random& random);

/// A tensor, or a container, of a type as schemas write it: float, seq(tensor(int64)), ...
Tensor random_value(const std::string& type, const Shape& shape, Random& random);

/// An integer that may be anything, mostly small.
int64_t random_integer(Random& random);

/// A value for an attribute of a kind as schemas write it.
Attribute::Data random_attribute(const std::string& kind, Random& random);

/// The type that says all of a value.
Type type_of(const Tensor& value);

}  // namespace assay::fuzz
