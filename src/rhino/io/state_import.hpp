// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <rhino/io/model_file.hpp>
#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>

namespace rhino::io {

/// A file of named tensors: NumPy's .npz or .safetensors, told apart by content.
class TensorArchive {
 public:
  virtual ~TensorArchive() = default;
  /// Names of all tensors, ascending.
  virtual const std::vector<std::string>& names() const = 0;
  /// A tensor, which must have type `type`; a bf16 tensor may also be stored as f32 and is then rounded. Nothing is
  /// allocated by sizes that the file merely claims. Throws InputError naming file and tensor.
  virtual ir::Literal read(const std::string& name, const ir::TensorType& type) = 0;
};

/// Throws InputError if the file is missing, damaged or of another kind.
std::unique_ptr<TensorArchive> open_tensor_archive(const std::string& path);
std::unique_ptr<TensorArchive> open_npz(const std::string& path);
std::unique_ptr<TensorArchive> open_safetensors(const std::string& path);

/// Initial values of all state and constant parameters, by path; in the file a path may also have dots for slashes.
/// Throws InputError for a missing tensor (with the nearest name in the file), one that the program does not know, or one
/// of another shape or type.
std::map<std::string, InitialState> import_state(const std::string& path, const ir::Signature& signature,
                                                 const ir::Function& function);

}  // namespace rhino::io
