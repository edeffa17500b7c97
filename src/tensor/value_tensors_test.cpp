#include "tensor/value_tensors.h"

#include <gtest/gtest.h>

namespace assay::value_tensors_test {
namespace {

const Tensor kA = Tensor::vector<float>({1, 2}), kB = Tensor::vector<float>({3});

/// The names, and the elements of length tensors as name=n.
std::string names_of(const Tensor& value) {
  std::string out;
  for_each_tensor("y", value, [&](const std::string& name, Tensor tensor) {
    out += (out.empty() ? "" : " ") + name;
    if (name.ends_with("length")) out += "=" + std::to_string(tensor.item<int64_t>());
  });
  return out;
}

TEST(ValueTensors, ATensorIsItself) { EXPECT_EQ(names_of(kA), "y"); }

TEST(ValueTensors, ContainersAreTakenApartByName) {
  EXPECT_EQ(names_of(Tensor::sequence({kA, kB})), "y.length=2 y[0] y[1]");
  EXPECT_EQ(names_of(Tensor::sequence({})), "y.length=0");
  EXPECT_EQ(names_of(Tensor::optional({})), "y.length=0");
  EXPECT_EQ(names_of(Tensor::optional(Tensor::sequence({kA}))), "y.length=1 y[0].length=1 y[0][0]");
  const Tensor map = Tensor::map(Tensor::vector<int64_t>({1, 2}), kA);
  EXPECT_EQ(names_of(map), "y.keys y.values");
  EXPECT_EQ(names_of(Tensor::sequence({map})), "y.length=1 y[0].keys y[0].values");
}

}  // namespace
}  // namespace assay::value_tensors_test
