// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/state_import.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>

namespace rhino::io {

std::unique_ptr<TensorArchive> open_tensor_archive(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  RHINO_CHECK(std::filesystem::exists(status), "no file '{}'", path);
  RHINO_CHECK(std::filesystem::is_regular_file(status), "'{}' is not a file", path);
  std::ifstream stream(path, std::ios::binary);
  char lead[8] = {};
  stream.read(lead, sizeof(lead));
  const std::string_view start(lead, static_cast<std::size_t>(stream.gcount()));
  RHINO_CHECK(!start.empty(), "'{}' is empty or cannot be read", path);
  if (start.starts_with("PK")) return open_npz(path);
  RHINO_CHECK(!start.starts_with("\x93NUMPY"), "'{}' is a single .npy array: save all of them with numpy.savez", path);
  RHINO_CHECK(!start.starts_with("\x89HDF"), "'{}' is an HDF5 file: give the state as .npz or .safetensors", path);
  return open_safetensors(path);
}

std::map<std::string, InitialState> import_state(const std::string& path, const ir::Signature& signature,
                                                 const ir::Function& function) {
  const std::unique_ptr<TensorArchive> archive = open_tensor_archive(path);
  const std::vector<std::string>& names = archive->names();
  std::map<std::string, InitialState> state;
  std::set<std::string> used;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < signature.params.size(); ++i) {
    const ir::ParamInfo& param = signature.params[i];
    if (param.role == ir::ParamRole::Batch) continue;
    known.push_back(param.path);
    std::string name = param.path;
    if (!std::binary_search(names.begin(), names.end(), name)) std::replace(name.begin(), name.end(), '/', '.');
    RHINO_CHECK(std::binary_search(names.begin(), names.end(), name), "'{}' has no value for {} '{}'{}; it has: {}{}", path,
                param.role == ir::ParamRole::State ? "the state" : "the constant", param.path,
                did_you_mean(param.path, names), fmt::join(names.begin(), names.begin() + std::min<std::ptrdiff_t>(8, std::ssize(names)), ", "),
                names.size() > 8 ? ", .." : "");
    state.emplace(param.path, archive->read(name, function.type(function.params[i])));
    used.insert(name);
  }
  for (const std::string& name : names)
    RHINO_CHECK(used.contains(name), "'{}' has '{}', which is no state of the program{}", path, name,
                did_you_mean(name, known));
  return state;
}

}  // namespace rhino::io
