#include "onnx/container_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/writer.h"

namespace assay::onnx::container_data_test {
namespace {

MessageWriter tensor_message(float value) {
  MessageWriter w;
  w.integer(1, 1);
  w.integer(2, 1);
  w.fixed32(4, value);
  return w;
}

MessageWriter scalar_message(float value) {
  MessageWriter w;
  w.integer(2, 1);
  w.fixed32(4, value);
  return w;
}

std::string bytes_of(const MessageWriter& w) {
  std::string bytes;
  w.write_to([&](std::string_view piece) { bytes += piece; });
  return bytes;
}

/// Decodes a message as a value of that kind.
Tensor decoded(const MessageWriter& w, DType kind) {
  const std::string bytes = bytes_of(w);
  ExternalData external("");
  return decode_container(kind == DType::kMap ? read_map(bytes) : read_sequence(bytes), kind, nullptr,
                          external);
}

TEST(ContainerData, ReadsASequence) {
  MessageWriter w;
  w.text(1, "s");
  w.integer(2, 1);
  w.message(3, tensor_message(1.5F));
  w.message(3, tensor_message(2.5F));
  const Tensor s = decoded(w, DType::kSequence);
  ASSERT_EQ(s.shape(), Shape{2});
  EXPECT_TRUE(s.elements()[1].identical(Tensor::vector<float>({2.5F})));
  EXPECT_EQ(decoded(MessageWriter(), DType::kSequence).numel(), 0) << "an empty message is an empty sequence";
}

TEST(ContainerData, ReadsAnOptional) {
  MessageWriter inner;
  inner.integer(2, 1);
  inner.message(3, tensor_message(1));
  MessageWriter w;
  w.integer(2, 3);
  w.message(5, inner);
  const Tensor o = decoded(w, DType::kOptional);
  ASSERT_EQ(o.numel(), 1);
  EXPECT_EQ(o.elements()[0].dtype(), DType::kSequence);
  MessageWriter empty;
  empty.integer(2, 1);
  EXPECT_EQ(decoded(empty, DType::kOptional).numel(), 0);
}

TEST(ContainerData, ReadsMapsInASequence) {
  MessageWriter values;
  values.integer(2, 1);
  values.message(3, scalar_message(0.25F));
  values.message(3, scalar_message(0.75F));
  MessageWriter map;
  map.integer(2, 8);
  map.text(4, "cat");
  map.text(4, "dog");
  map.message(5, values);
  MessageWriter w;
  w.integer(2, 4);
  w.message(6, map);
  const Tensor s = decoded(w, DType::kSequence);
  ASSERT_EQ(s.numel(), 1);
  const Tensor& m = s.elements()[0];
  EXPECT_EQ(m.dtype(), DType::kMap);
  EXPECT_TRUE(m.elements()[0].identical(Tensor::vector<std::string>({"cat", "dog"})));
  EXPECT_TRUE(m.elements()[1].identical(Tensor::vector<float>({0.25F, 0.75F})));
}

TEST(ContainerData, AMapsValuesMayBeTensorsOfAnyShape) {
  MessageWriter values;
  values.integer(2, 1);
  values.message(3, tensor_message(1));
  MessageWriter w;
  w.integer(2, 7);
  w.integer(3, -5);
  w.message(5, values);
  const Tensor m = decoded(w, DType::kMap);
  EXPECT_TRUE(m.elements()[0].identical(Tensor::vector<int64_t>({-5})));
  EXPECT_EQ(m.elements()[1].dtype(), DType::kSequence);
}

TEST(ContainerData, RefusesWhatContradictsItself) {
  MessageWriter says_sequences;
  says_sequences.integer(2, 3);
  says_sequences.message(3, tensor_message(1));
  EXPECT_THROW(decoded(says_sequences, DType::kSequence), Error);
  MessageWriter unknown_kind;
  unknown_kind.integer(2, 9);
  EXPECT_THROW(decoded(unknown_kind, DType::kSequence), Error);
  MessageWriter two;
  two.integer(2, 1);
  two.message(3, tensor_message(1));
  two.message(3, tensor_message(1));
  EXPECT_THROW(decoded(two, DType::kOptional), Error);
  MessageWriter mixed;
  mixed.integer(2, 1);
  MessageWriter whole;
  whole.integer(1, 0);
  whole.integer(2, 7);
  mixed.message(3, tensor_message(1));
  mixed.message(3, whole);
  EXPECT_THROW(decoded(mixed, DType::kSequence), Error);
}

TEST(ContainerData, RefusesMapsThatDoNotFit) {
  MessageWriter values;
  values.integer(2, 1);
  values.message(3, scalar_message(1));
  const auto map = [&](int64_t key_type, int keys, int string_keys, int lists) {
    MessageWriter w;
    w.integer(2, key_type);
    for (int i = 0; i < keys; ++i) w.integer(3, i);
    for (int i = 0; i < string_keys; ++i) w.text(4, "k");
    for (int i = 0; i < lists; ++i) w.message(5, values);
    return w;
  };
  EXPECT_NO_THROW(decoded(map(7, 1, 0, 1), DType::kMap));
  EXPECT_THROW(decoded(map(7, 2, 0, 1), DType::kMap), Error);
  EXPECT_THROW(decoded(map(7, 1, 1, 1), DType::kMap), Error);
  EXPECT_THROW(decoded(map(7, 0, 1, 1), DType::kMap), Error);
  EXPECT_THROW(decoded(map(8, 1, 0, 1), DType::kMap), Error);
  EXPECT_THROW(decoded(map(1, 1, 0, 1), DType::kMap), Error);
  EXPECT_THROW(decoded(map(99, 1, 0, 1), DType::kMap), Error);
  EXPECT_THROW(decoded(map(7, 1, 0, 0), DType::kMap), Error);
  EXPECT_THROW(decoded(map(7, 1, 0, 2), DType::kMap), Error);
}

TEST(ContainerData, RefusesWhatNestsTooDeep) {
  MessageWriter w;
  for (int i = 0; i < 200; ++i) {
    MessageWriter outer;
    outer.integer(2, 3);
    outer.message(5, w);
    w = outer;
  }
  EXPECT_THROW(decoded(w, DType::kSequence), Error);
}

TEST(ContainerData, ErrorsNameTheFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("assay_container_" + std::to_string(::getpid()) + ".pb"))
          .string();
  std::ofstream(path, std::ios::binary) << std::string("\x1a\x7f", 2);
  try {
    load_container_file(path, DType::kSequence);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace assay::onnx::container_data_test
