// Converts TensorProto messages to Tensors, with inline and external data.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "assay/unaligned_tensor.h"
#include "base/mapped_file.h"
#include "onnx/messages.h"

namespace assay::onnx {

/// The folder of external data. Maps every file once.
class ExternalData {
 public:
  /// `folder` may be relative; locations are resolved inside it and may not leave it, by `..`, an absolute
  /// path or a link. Only regular files are accepted, and a file with several hard links only if it is
  /// certainly the model's own: another link may be outside the folder. A checksum is compared with
  /// the file's mark (onnx/data_mark.h), if it has one.
  explicit ExternalData(std::string folder, bool ignore = false)
      : folder_(std::move(folder)), ignore_(ignore) {}

  /// True when external tensors are left without data.
  bool ignored() const { return ignore_; }
  /// The bytes of an external tensor. Throws Error that names the file and the rule.
  std::pair<std::string_view, std::shared_ptr<const MappedFile>> bytes(const TensorMessage& t,
                                                                       size_t expected);

 private:
  struct File {
    std::shared_ptr<const MappedFile> bytes;
    std::optional<std::string> checksum;  ///< from the file's mark
  };
  const File& open(const std::string& location);

  std::string folder_;
  bool ignore_;
  std::map<std::string, File> files_;
};

/// The type and shape of a tensor message. Throws Error on an unknown data type or a bad shape.
UnalignedTensor decode_tensor(const TensorMessage& t, const std::shared_ptr<const void>& owner,
                              ExternalData& external);

/// True when the message says that its data are in another file.
inline bool is_external(const TensorMessage& t) { return t.data_location == 1; }
/// True when the message has elements or their location.
bool has_data(const TensorMessage& t);

/// The mark in doc_string of a tensor with stripped
/// elements, which shows that missing data are not damage.
inline constexpr std::string_view kWeightlessMark = "TRT_WEIGHTLESS";
/// True for a tensor with that mark that has no elements though its shape needs some.
bool is_weightless(const TensorMessage& t);

/// A dense tensor of the sparse message's extents. Throws Error on indices out of range or an absurd size.
Tensor decode_sparse_tensor(const SparseTensorMessage& s, const std::shared_ptr<const void>& owner,
                            ExternalData& external);

/// A TensorProto alone in a file, as in ONNX's test data (input_0.pb).
Tensor load_tensor_file(const std::string& path);

}  // namespace assay::onnx
