#include "graph/at_node.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace assay::at_node_test {
namespace {

template <typename Body>
Error error_of(Body&& body) {
  Graph g;
  Node* n = g.add_node("Relu", {g.add_value("x")}, {g.add_value("y")}, {}, "a");
  try {
    at_node(*n, body);
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::kInternal, "");
}

TEST(AtNode, EveryExceptionNamesTheNode) {
  EXPECT_STREQ(error_of([] { fail(ErrorCode::kIo, "no luck"); }).what(), "no luck [at node 'a' (Relu)]");
  EXPECT_STREQ(
      error_of([] { throw Error(ErrorCode::kIo, "no luck").add_context("at node 'a' (Relu)"); }).what(),
      "no luck [at node 'a' (Relu)]");
  const Error memory = error_of([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code(), ErrorCode::kResource);
  EXPECT_STREQ(memory.what(),
               "there is not enough memory for what the node asks for [at node 'a' (Relu)]. A higher memory "
               "limit allows more.");
  const Error length = error_of([] { std::string().reserve(SIZE_MAX); });
  EXPECT_EQ(length.code(), ErrorCode::kInvalidModel);
  EXPECT_STREQ(length.what(), "the node asks for a list that is longer than any memory [at node 'a' (Relu)]");
  const Error other = error_of([] { throw std::out_of_range("at"); });
  EXPECT_EQ(other.code(), ErrorCode::kInternal);
  EXPECT_STREQ(other.what(), "unexpected failure: at [at node 'a' (Relu)]");
}

TEST(AtNode, GivesBackWhatTheBodyReturns) {
  Graph g;
  const Node* n = g.add_node("Relu", {}, {});
  EXPECT_EQ(at_node(*n, [] { return 3; }), 3);
}

}  // namespace
}  // namespace assay::at_node_test
