// SPDX-License-Identifier: Apache-2.0
#include "backend_pair.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rhino/kernels/host/host_backend.hpp>
#include <rhino/kernels/host/op_kernels.hpp>
#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/reference_backend.hpp>

namespace rhino::kernels::host::test {

Tensor Randomness::tensor(ir::TensorType type, double low, double high) {
  Tensor result(std::move(type));
  reference::dispatch_dtype(result.type.dtype, [&]<class T>(std::type_identity<T>) {
    for (T& element : result.as<T>()) {
      if constexpr (std::is_same_v<T, bool>) element = chance(0.5);
      else if constexpr (std::is_integral_v<T>) element = static_cast<T>(integer(std::is_signed_v<T> ? -20 : 0, 20));
      else element = T(real(low, high));
    }
  });
  return result;
}

void run_kernel(const Kernel& kernel, const std::vector<const void*>& operands, const std::vector<void*>& results) {
  constexpr std::size_t guard = 64;
  const auto size = static_cast<std::size_t>(kernel.workspace_bytes());
  std::vector<std::byte> storage(size + 64 + guard, std::byte{0xa5});
  auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  address = (address + 63) / 64 * 64;
  auto* workspace = reinterpret_cast<std::byte*>(address);
  kernel.run(operands, results, workspace);
  for (std::size_t i = 0; i + 64 < guard + 64 && workspace + size + i < storage.data() + storage.size(); ++i) {
    ASSERT_EQ(workspace[size + i], std::byte{0xa5}) << "written past the end of the workspace";
  }
}

std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (!(got.type == want.type)) return fmt::format("type {} instead of {}", to_string(got.type), to_string(want.type));
  return reference::dispatch_dtype(got.type.dtype, [&]<class T>(std::type_identity<T>) -> std::string {
    const auto a = got.as<T>(), b = want.as<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        if (a[i] != b[i]) return fmt::format("element {}: {} instead of {}", i, a[i], b[i]);
      } else {
        const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
        if (std::isnan(x) && std::isnan(y)) continue;
        if (x == y) continue;
        if (!(std::fabs(x - y) <= tolerance.absolute + tolerance.relative * std::fabs(y)))
          return fmt::format("element {}: {:.17g} instead of {:.17g}", i, x, y);
      }
    }
    return "";
  });
}

Tolerance few_units(ir::DType dtype, double units) {
  switch (dtype) {
    case ir::DType::F16: return {units * 0x1p-10, 0x1p-24};
    case ir::DType::BF16: return {units * 0x1p-7, 0x1p-130};
    case ir::DType::F32: return {units * 0x1p-23, 0x1p-126};
    default: return {units * 0x1p-52, 0x1p-1022};
  }
}

std::string compare_ops(const ir::Program& program, const std::vector<Tensor>& arguments, Tolerance tolerance) {
  const ir::Function& function = program.entry();
  const auto reference_backend = reference::make_backend();
  const auto host = make_backend();
  std::vector<Tensor> values(function.values.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) values[function.params[i].index()] = arguments[i];
  for (const ir::Op& op : function.ops) {
    std::vector<const void*> operands;
    for (ir::ValueId operand : op.operands) operands.push_back(values[operand.index()].bytes.data());
    const auto run = [&](const Backend& backend, std::vector<Tensor>& out) {
      std::vector<void*> results;
      out.clear();
      for (ir::ValueId result : op.results) out.emplace_back(function.type(result));
      for (Tensor& tensor : out) results.push_back(tensor.bytes.data());
      run_kernel(*backend.make(program, function, op), operands, results);
    };
    std::vector<Tensor> want, got;
    run(*reference_backend, want);
    run(*host, got);
    for (std::size_t r = 0; r < want.size(); ++r) {
      const std::string text = difference(got[r], want[r], tolerance);
      if (!text.empty()) return fmt::format("{} result {}: {}", ir::op_name(op.kind), r, text);
      values[op.results[r].index()] = want[r];
    }
  }
  return "";
}

bool has_own_kernel(const ir::Program& program) {
  return make_op_kernel(program, program.entry(), program.entry().ops.back()) != nullptr;
}

}  // namespace rhino::kernels::host::test
