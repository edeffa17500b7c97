// The objects behind the handles of extension modules.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/backend.h"
#include "assay/extension_abi.h"
#include "assay/graph.h"
#include "assay/tensor.h"
#include "extension/args.h"
#include "ops/op_context.h"

struct AssayModel {
  std::shared_ptr<assay::Model> model;
};
struct AssayArgs {
  const assay::extension::Args* args;
};
struct AssayOutputs {
  std::vector<assay::Tensor> numbered;
  assay::TensorList named;
};
struct AssayTensorInfos {
  std::vector<assay::TensorInfo> inputs, outputs;
};
struct AssayBytes {
  std::string data;
};
struct AssayInfer {
  assay::InferContext& context;
};
struct AssayEval {
  assay::EvalContext& context;
  AssayOutputs outputs;
};
struct AssayWays {
  struct Way {
    std::string name;
    std::vector<int32_t> blocks;
    double seconds;
  };
  std::vector<Way> ways;
};

namespace assay::extension {

const AssayHost& host();

/// Objects passed to callbacks live until the outermost one of the thread returns.
class CallScope {
 public:
  CallScope();
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// The form in which a module sees a tensor; a container is refused with Error (kUnsupported).
  static AssayTensor view(const Tensor& t);
  static AssayText keep(std::string text);
};

/// The form of a tensor whose elements are not available (yet).
AssayTensor describe(DType dtype, const Shape& shape);

/// A copy. Throws Error for an invalid type, shape or number of bytes.
Tensor copy_tensor(const AssayTensor& t);

/// Extents from a module. Throws Error for an invalid rank or extent.
Type make_type(int32_t dtype, int32_t rank, const int64_t* dims);

/// For its lifetime the attributes of the context's node include the defaults of its schema.
class Defaults {
 public:
  explicit Defaults(const OpContext& context);
  ~Defaults();
  Defaults(const Defaults&) = delete;
  Defaults& operator=(const Defaults&) = delete;

 private:
  const OpContext* outer_;
};

/// Returns and clears the thread's error.
std::string take_error();
void set_error(std::string text);

inline AssayNode* handle(const Node* n) { return reinterpret_cast<AssayNode*>(const_cast<Node*>(n)); }
inline AssayValue* handle(const Value* v) { return reinterpret_cast<AssayValue*>(const_cast<Value*>(v)); }
inline AssayGraph* handle(const Graph* g) { return reinterpret_cast<AssayGraph*>(const_cast<Graph*>(g)); }

}  // namespace assay::extension
