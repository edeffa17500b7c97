#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/memory_limit.h"
#include "onnx/messages.h"
#include "onnx/writer.h"

namespace assay::onnx::reader_test {
namespace {

TEST(Reader, EmptyMessagesKeepTheMemoryLimit) {
  MessageWriter graph, model;
  for (int i = 0; i < 5000; ++i) graph.text(1, "");  // two bytes each
  model.message(7, graph);
  const std::string bytes = model.bytes();
  EXPECT_EQ(read_model(bytes).graph.nodes.size(), 5000U);
  set_memory_limit(1 << 20);
  std::string problem;
  try {
    read_model(bytes);
  } catch (const Error& e) {
    problem = e.what();
  }
  set_memory_limit(0);
  EXPECT_EQ(problem,
            "the file holds more than 4096 messages, for which the memory that there is does not suffice");
}

}  // namespace
}  // namespace assay::onnx::reader_test
