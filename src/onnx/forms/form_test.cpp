#include "onnx/forms/form.h"

#include <gtest/gtest.h>

namespace assay::onnx::form_test {
namespace {

TEST(ModelForms, HowAFileBeginsTells) {
  EXPECT_EQ(form_of("a.onnx", " \n<ir_version"), ModelForm::kText);
  EXPECT_EQ(form_of("a.onnx", "# comment"), ModelForm::kText);
  EXPECT_EQ(form_of("a.onnx", "\x08\x07:"), ModelForm::kBinary);
  EXPECT_EQ(form_of("a.onnx", ""), ModelForm::kBinary);
  EXPECT_EQ(form_of("a.onnx", "\n# by hand\nir_version: 8"), ModelForm::kProtoText);
  EXPECT_EQ(form_of("a.onnx", "graph {"), ModelForm::kProtoText);
  EXPECT_EQ(form_of("a.onnx", "\xef\xbb\xbf { \"irVersion\": 8}"), ModelForm::kJson);
  EXPECT_EQ(form_of("a.onnx", "graphic"), ModelForm::kBinary);
}

TEST(ModelForms, ElseTheEndingOfTheNameDoes) {
  EXPECT_EQ(form_of("a.onnxtxt", ""), ModelForm::kText);
  EXPECT_EQ(form_of("a.txt", "g (float[1] x) => (float[1] y) { y = Neg (x) }"), ModelForm::kText);
  EXPECT_EQ(form_of("a.textproto", "graf {"), ModelForm::kProtoText);
  EXPECT_EQ(form_of("a.json", "[1]"), ModelForm::kJson);
  // A binary model under the name of a text.
  EXPECT_EQ(form_of("a.json", "\x08\x07:"), ModelForm::kBinary);
  EXPECT_EQ(form_of("a.pbtxt", "\x08\x07:"), ModelForm::kBinary);
  EXPECT_EQ(form_of_name("a.onnxjson"), ModelForm::kJson);
  EXPECT_EQ(form_of_name("a.onnx"), ModelForm::kBinary);
}

}  // namespace
}  // namespace assay::onnx::form_test
