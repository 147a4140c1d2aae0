// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/base/error.hpp>
#include <rhino/io/elements.hpp>
#include <rhino/io/model_file.hpp>
#include <rhino/io/model_format.hpp>

namespace rhino::io {

namespace {

/// The elements of `literal` with the given global indices per dimension, as read_elements.
void gather_literal(const ir::Literal& literal, const std::vector<std::vector<std::int64_t>>& indices, ir::DType dtype,
                    std::span<std::byte> out) {
  const ir::TensorType& type = literal.type();
  const std::size_t size = ir::dtype_bytes(type.dtype);
  const std::span<const std::byte> stored = literal.stored_bytes();
  const ir::Dims strides = ir::row_major_strides(type.dims);
  RHINO_ASSERT(indices.size() == type.dims.size());
  const std::size_t elements = out.size() / ir::dtype_bytes(dtype);
  std::vector<std::byte> gathered(elements * size, std::byte{0});
  std::vector<std::size_t> at(indices.size(), 0);
  for (std::size_t element = 0; element < elements; ++element) {
    std::int64_t from = 0;
    bool padding = false;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const std::int64_t index = indices[d][at[d]];
      RHINO_ASSERT(index >= -1 && index < type.dims[d]);
      padding = padding || index < 0;
      from += index * strides[d];
    }
    if (!padding)
      std::memcpy(&gathered[element * size], &stored[literal.is_splat() ? 0 : static_cast<std::size_t>(from) * size], size);
    for (std::size_t d = indices.size(); d-- > 0;) {
      if (++at[d] < indices[d].size()) break;
      at[d] = 0;
    }
  }
  convert_elements(type.dtype, gathered, dtype, out);
}

}  // namespace

struct ModelReader::Impl {
  std::optional<Hdf5File> file;    ///< of a model file
  std::optional<Hdf5Group> state;  ///< its /state
  Model model;                     ///< without state where a file is open
  std::vector<ir::TensorType> types;
  std::map<std::string, std::size_t, std::less<>> index;  ///< parameter by path

  explicit Impl(const std::string& path) : file(Hdf5File::open(path)) {
    check_format(*file, detail::model_format, detail::model_version, "a model file");
    model = detail::read_model_head(*file, path);
    state.emplace(file->root().group("state"));
    detail::check_state(*state, model.signature, model.program.entry());
    finish();
  }
  explicit Impl(Model given) : model(std::move(given)) {
    detail::check_model(model);
    finish();
  }

  void finish() {
    types = model.program.entry().param_types();
    for (std::size_t i = 0; i < types.size(); ++i) index[model.signature.params[i].path] = i;
  }

  std::size_t find(const std::string& path) const {
    const auto found = index.find(path);
    RHINO_ASSERT(found != index.end() && model.signature.params[found->second].role != ir::ParamRole::Batch, "no state '{}'",
                 path);
    return found->second;
  }

  /// Either a data set with numbers, or a literal, or a recipe.
  struct Source {
    std::optional<Hdf5DataSet> set;
    const ir::Literal* literal = nullptr;
    std::optional<InitRecipe> recipe;
  };
  Source source(const std::string& path) const {
    Source source;
    if (state.has_value()) {
      source.set.emplace(state->data_set(path));
      if (source.set->is_null()) {
        source.recipe = detail::read_recipe(*source.set);
        source.set.reset();
      }
    } else {
      const InitialState& value = model.state.at(path);
      source.literal = std::get_if<ir::Literal>(&value);
      if (source.literal == nullptr) source.recipe = std::get<InitRecipe>(value);
    }
    return source;
  }
};

ModelReader::ModelReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
ModelReader::ModelReader(Model model) : impl_(std::make_unique<Impl>(std::move(model))) {}
ModelReader::~ModelReader() = default;
ModelReader::ModelReader(ModelReader&&) noexcept = default;
const ir::Program& ModelReader::program() const { return impl_->model.program; }
const ir::Signature& ModelReader::signature() const { return impl_->model.signature; }
const std::map<std::string, std::string>& ModelReader::meta() const { return impl_->model.meta; }
const ir::TensorType& ModelReader::stored_type(std::size_t param) const { return impl_->types.at(param); }

void ModelReader::replace_program(ir::Program program) {
  ir::verify(impl_->model.signature, program.entry());
  for (std::size_t i = 0; i < impl_->types.size(); ++i)
    RHINO_ASSERT(program.entry().type(program.entry().params[i]).dims == impl_->types[i].dims);
  impl_->model.program = std::move(program);
}

std::optional<InitRecipe> ModelReader::recipe(const std::string& path) const {
  impl_->find(path);
  return impl_->source(path).recipe;
}

void ModelReader::read_state(const std::string& path, const std::vector<std::vector<std::int64_t>>& indices, ir::DType dtype,
                             std::span<std::byte> out) const {
  const ir::TensorType& type = impl_->types[impl_->find(path)];
  const Impl::Source source = impl_->source(path);
  if (source.set.has_value()) {
    source.set->check_stored();
    read_elements(*source.set, *stored_dtype(*source.set), indices, dtype, out);
  } else if (source.literal != nullptr) {
    gather_literal(*source.literal, indices, dtype, out);
  } else if (dtype == type.dtype) {
    evaluate_recipe(*source.recipe, type, indices, out);
  } else {
    // A promoted program starts from the numbers of the original type.
    const std::size_t elements = out.size() / ir::dtype_bytes(dtype);
    std::vector<std::byte> narrow(elements * ir::dtype_bytes(type.dtype));
    evaluate_recipe(*source.recipe, type, indices, narrow);
    convert_elements(type.dtype, narrow, dtype, out);
  }
}

Model read_model(const std::string& path) {
  ModelReader reader(path);
  ModelReader::Impl& impl = *reader.impl_;
  Model model = std::move(impl.model);
  for (std::size_t i = 0; i < model.signature.params.size(); ++i) {
    const ir::ParamInfo& param = model.signature.params[i];
    if (param.role == ir::ParamRole::Batch) continue;
    const Hdf5DataSet set = impl.state->data_set(param.path);
    if (set.is_null()) {
      model.state.emplace(param.path, detail::read_recipe(set));
    } else {
      model.state.emplace(param.path, read_tensor(set, impl.types[i]));
    }
  }
  return model;
}

}  // namespace rhino::io
