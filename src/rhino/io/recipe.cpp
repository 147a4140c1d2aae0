// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/error.hpp>
#include <rhino/base/random.hpp>
#include <rhino/io/elements.hpp>
#include <rhino/io/model_file.hpp>

namespace rhino::io {

namespace {

double recipe_value(const InitRecipe& recipe, const RandomStream& stream, std::uint64_t index) {
  switch (recipe.kind) {
    case InitRecipe::Kind::Zeros: return 0;
    case InitRecipe::Kind::Constant: return recipe.a;
    case InitRecipe::Kind::Normal: return recipe.a + recipe.b * stream.normal(index);
    case InitRecipe::Kind::Uniform: return recipe.a + (recipe.b - recipe.a) * stream.uniform(index);
    case InitRecipe::Kind::TruncatedNormal: return recipe.a + recipe.b * stream.truncated_normal(index);
  }
  RHINO_FAIL(InternalError, "no such recipe");
}

}  // namespace

void evaluate_recipe(const InitRecipe& recipe, const ir::TensorType& type,
                     const std::vector<std::vector<std::int64_t>>& indices, std::span<std::byte> out) {
  const std::size_t size = ir::dtype_bytes(type.dtype);
  RHINO_ASSERT(indices.size() == type.dims.size());
  std::size_t elements = 1;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    elements *= indices[d].size();
    for (const std::int64_t index : indices[d]) RHINO_ASSERT(index >= -1 && index < type.dims[d]);
  }
  RHINO_ASSERT(out.size() == elements * size);
  const ir::Dims strides = ir::row_major_strides(type.dims);
  const RandomStream stream{recipe.seed, 0};
  std::vector<std::size_t> at(indices.size(), 0);
  for (std::size_t element = 0; element < elements; ++element) {
    std::int64_t global = 0;
    bool padding = false;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const std::int64_t index = indices[d][at[d]];
      padding = padding || index < 0;
      global += index * strides[d];
    }
    const double value = padding ? 0.0 : recipe_value(recipe, stream, static_cast<std::uint64_t>(global));
    store_element(type.dtype, value, out.data() + element * size);
    for (std::size_t d = indices.size(); d-- > 0;) {
      if (++at[d] < indices[d].size()) break;
      at[d] = 0;
    }
  }
}

}  // namespace rhino::io
