// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/reducers.hpp>
#include <rhino/kernels/reference/region.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

/// For one position inside the window: the input element that every result position meets there, row-major over the
/// results; -1 where it meets padding or a hole of the base dilation.
class WindowReader {
 public:
  WindowReader(const std::vector<ir::WindowDim>& window, const ir::Dims& input_dims, const ir::Dims& result_dims)
      : window_(window),
        input_dims_(input_dims),
        result_dims_(result_dims),
        strides_(ir::row_major_strides(input_dims)) {
    for (const auto& dim : window)
      window_dims_.push_back(dim.size);
    std::int64_t count = 1;
    for (const auto size : result_dims)
      count *= size;
    elements_.resize(static_cast<std::size_t>(count));
  }

  const ir::Dims& window_dims() const { return window_dims_; }

  const std::vector<std::int64_t>& at(const ir::Dims& place) {
    if (elements_.empty()) return elements_;
    elements_[0] = 0;
    std::int64_t filled = 1;
    // Grow the table dimension by dimension, from the back of each finished part so that it can be done in place.
    for (std::size_t d = 0; d < window_.size(); ++d) {
      const std::int64_t size = result_dims_[d];
      for (std::int64_t prefix = filled; prefix-- > 0;) {
        const std::int64_t base = elements_[static_cast<std::size_t>(prefix)];
        for (std::int64_t o = size; o-- > 0;) {
          const std::int64_t index = base < 0 ? -1 : input_index(d, o, place[d]);
          elements_[static_cast<std::size_t>(prefix * size + o)] = index < 0 ? -1 : base + index * strides_[d];
        }
      }
      filled *= size;
    }
    return elements_;
  }

 private:
  std::int64_t input_index(std::size_t d, std::int64_t output, std::int64_t place) const {
    const ir::WindowDim& dim = window_[d];
    const std::int64_t dilated = output * dim.stride - dim.pad_low + place * dim.window_dilation;
    if (dilated < 0 || dilated % dim.base_dilation != 0) return -1;
    const std::int64_t index = dilated / dim.base_dilation;
    return index < input_dims_[d] ? index : -1;
  }

  const std::vector<ir::WindowDim>& window_;
  const ir::Dims& input_dims_;
  const ir::Dims& result_dims_;
  ir::Dims strides_;
  ir::Dims window_dims_;
  std::vector<std::int64_t> elements_;
};

void fill(Tensor& tensor, const Tensor& scalar) {
  const std::size_t width = ir::dtype_bytes(tensor.type.dtype);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += width)
    std::memcpy(tensor.bytes.data() + at, scalar.bytes.data(), width);
}

}  // namespace

std::vector<Tensor> run_reduce_window(const OpContext& context) {
  const auto& attrs = context.attrs<ir::ReduceWindowAttrs>();
  const std::size_t n = context.operands.size() / 2;
  std::vector<Tensor> storage(2 * n), results;
  std::vector<const Tensor*> inputs(n), inits(n);
  for (std::size_t i = 0; i < n; ++i) {
    Tensor& result = results.emplace_back(context.result_type(i));
    inputs[i] = &with_dtype(context.operand(i), result.type.dtype, storage[i]);
    inits[i] = &with_dtype(context.operand(n + i), result.type.dtype, storage[n + i]);
    fill(result, *inits[i]);
  }
  if (results[0].bytes.empty()) return results;
  // The window may cover padding: such elements count as the initial value (StableHLO pads with it).
  WindowReader reader(attrs.window, inputs[0]->type.dims, results[0].type.dims);
  const auto kind =
      n == 1 ? ir::classify_reducer(context.program.function(context.op.regions[0])) : ir::ReducerKind::Other;
  const bool direct = dispatch_reducer(kind, results[0].type.dtype, [&]<class Operation, class T>() {
    const T* input = inputs[0]->as<T>().data();
    const T init = inits[0]->as<T>()[0];
    T* result = results[0].as<T>().data();
    for (Odometer place(reader.window_dims()); !place.done(); place.next()) {
      const auto& elements = reader.at(place.index());
      for (std::size_t o = 0; o < elements.size(); ++o)
        result[o] = Operation::template apply<T>(result[o], elements[o] < 0 ? init : input[elements[o]]);
    }
  });
  if (direct) return results;

  ScalarRegion region(context.program, context.op.regions[0], context.options);
  std::vector<Tensor> current;
  std::vector<const std::byte*> arguments(2 * n);
  std::vector<std::byte*> outputs(n);
  for (std::size_t i = 0; i < n; ++i) {
    current.emplace_back(results[i].type);
    arguments[i] = outputs[i] = results[i].bytes.data();
    arguments[n + i] = current[i].bytes.data();
  }
  for (Odometer place(reader.window_dims()); !place.done(); place.next()) {
    const auto& elements = reader.at(place.index());
    for (std::size_t i = 0; i < n; ++i)
      dispatch_width(results[i].type.dtype, [&]<class T>(std::type_identity<T>) {
        const T* input = inputs[i]->as<T>().data();
        const T init = inits[i]->as<T>()[0];
        T* out = current[i].as<T>().data();
        for (std::size_t o = 0; o < elements.size(); ++o)
          out[o] = elements[o] < 0 ? init : input[elements[o]];
      });
    region.apply(arguments, outputs, static_cast<std::int64_t>(elements.size()));
  }
  return results;
}

std::vector<Tensor> run_select_and_scatter(const OpContext& context) {
  const auto& attrs = context.attrs<ir::SelectAndScatterAttrs>();
  Tensor result(context.result_type());
  const ir::DType dtype = result.type.dtype;
  Tensor operand_storage, source_storage, init_storage;
  const Tensor& operand = with_dtype(context.operand(0), dtype, operand_storage);
  const Tensor& source = with_dtype(context.operand(1), dtype, source_storage);
  fill(result, with_dtype(context.operand(2), dtype, init_storage));
  if (source.bytes.empty() || result.bytes.empty()) return one_result(std::move(result));

  // Choose in every window the element that the select region keeps; padding never takes part.
  WindowReader reader(attrs.window, operand.type.dims, source.type.dims);
  ScalarRegion select(context.program, context.op.regions[0], context.options);
  const auto count = static_cast<std::size_t>(source.type.elements());
  std::vector<std::int64_t> chosen(count, -1);
  Tensor kept(source.type), current(source.type);
  std::vector<std::byte> keeps(count);
  for (Odometer place(reader.window_dims()); !place.done(); place.next()) {
    const auto& elements = reader.at(place.index());
    dispatch_width(dtype, [&]<class T>(std::type_identity<T>) {
      const T* input = operand.as<T>().data();
      T* best = kept.as<T>().data();
      T* now = current.as<T>().data();
      for (std::size_t o = 0; o < count; ++o)
        now[o] = elements[o] < 0 ? best[o] : input[elements[o]];
      const std::byte* const arguments[] = {kept.bytes.data(), current.bytes.data()};
      std::byte* const outputs[] = {keeps.data()};
      select.apply(arguments, outputs, static_cast<std::int64_t>(count));
      for (std::size_t o = 0; o < count; ++o)
        if (elements[o] >= 0 && (chosen[o] < 0 || keeps[o] == std::byte{0})) {
          chosen[o] = elements[o];
          best[o] = now[o];
        }
    });
  }

  const ir::FunctionId scatter = context.op.regions[1];
  const bool direct =
      dispatch_reducer(ir::classify_reducer(context.program.function(scatter)), dtype, [&]<class Operation, class T>() {
        const T* from = source.as<T>().data();
        T* to = result.as<T>().data();
        for (std::size_t o = 0; o < count; ++o)
          if (chosen[o] >= 0) to[chosen[o]] = Operation::template apply<T>(to[chosen[o]], from[o]);
      });
  if (direct) return one_result(std::move(result));
  ScalarRegion update(context.program, scatter, context.options);
  const std::size_t width = ir::dtype_bytes(dtype);
  for (std::size_t o = 0; o < count; ++o) {
    if (chosen[o] < 0) continue;
    std::byte* target = result.bytes.data() + static_cast<std::size_t>(chosen[o]) * width;
    const std::byte* const arguments[] = {target, source.bytes.data() + o * width};
    std::byte* const outputs[] = {target};
    update.apply(arguments, outputs, 1);
  }
  return one_result(std::move(result));
}

}  // namespace rhino::kernels::reference
