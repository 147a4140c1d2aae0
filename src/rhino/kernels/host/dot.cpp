// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>

#include <rhino/kernels/host/gemm.hpp>
#include <rhino/kernels/host/loops.hpp>
#include <rhino/kernels/host/odometer.hpp>
#include <rhino/kernels/host/op_kernels.hpp>
#include <rhino/kernels/host/strided_copy.hpp>

namespace rhino::kernels::host {

namespace {

/// Dimensions walked as one: the size and the stride of the merged dimension, if there is one.
std::optional<std::pair<std::int64_t, std::int64_t>> merged(const ir::Dims& sizes, const ir::Dims& strides) {
  std::int64_t size = 1, stride = 1;
  bool first = true;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (first) stride = strides[i];
    else if (strides[i] != stride * size) return std::nullopt;
    size *= sizes[i];
    first = false;
  }
  return std::pair{size, stride};
}

/// One operand as matrices: `rows` is its free side, `columns` the contracted one.
struct Side {
  ir::Dims batch, batch_strides, free, free_strides, contracted, contracted_strides;

  Side(const ir::TensorType& type, const std::vector<int>& batch_dims, const std::vector<int>& contracted_dims) {
    const ir::Dims strides = ir::row_major_strides(type.dims);
    std::vector<bool> used(type.dims.size(), false);
    for (int d : batch_dims) {
      const auto i = static_cast<std::size_t>(d);
      used[i] = true;
      batch.push_back(type.dims[i]);
      batch_strides.push_back(strides[i]);
    }
    for (int d : contracted_dims) {
      const auto i = static_cast<std::size_t>(d);
      used[i] = true;
      contracted.push_back(type.dims[i]);
      contracted_strides.push_back(strides[i]);
    }
    for (std::size_t i = 0; i < type.dims.size(); ++i) {
      if (used[i]) continue;
      free.push_back(type.dims[i]);
      free_strides.push_back(strides[i]);
    }
  }

  /// As matrices in place: a layout that BLAS can read, free side as rows.
  std::optional<MatrixLayout> in_place() const {
    const auto rows = merged(free, free_strides), columns = merged(contracted, contracted_strides);
    if (!rows || !columns) return std::nullopt;
    const auto [m, row_stride] = *rows;
    const auto [k, column_stride] = *columns;
    if (k == 1 || column_stride == 1) {
      const std::int64_t leading = m == 1 ? k : row_stride;
      if (leading >= k) return MatrixLayout{false, std::max<std::int64_t>(leading, 1)};
    }
    if (m == 1 || row_stride == 1) {
      const std::int64_t leading = k == 1 ? m : column_stride;
      if (leading >= m) return MatrixLayout{true, std::max<std::int64_t>(leading, 1)};
    }
    return std::nullopt;
  }

  /// Copy into [batch, free, contracted], dense.
  StridedCopy packing(std::int64_t width) const {
    ir::Dims shape = batch, strides = batch_strides;
    shape.insert(shape.end(), free.begin(), free.end());
    strides.insert(strides.end(), free_strides.begin(), free_strides.end());
    shape.insert(shape.end(), contracted.begin(), contracted.end());
    strides.insert(strides.end(), contracted_strides.begin(), contracted_strides.end());
    return StridedCopy(shape, strides, width);
  }
};

std::int64_t product(const ir::Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

class DotKernel final : public Kernel {
 public:
  DotKernel(const OpContext& context, Side lhs, Side rhs)
      : in_(context.operand(0).dtype), out_(context.result().dtype), batch_(lhs.batch) {
    m_ = product(lhs.free), n_ = product(rhs.free), k_ = product(lhs.contracted), batches_ = product(batch_);
    compute_ = in_ == ir::DType::F64 ? ir::DType::F64 : ir::DType::F32;
    setup(lhs_, lhs, m_);
    setup(rhs_, rhs, n_);
    result_strides_ = ir::row_major_strides(batch_);
    for (auto& stride : result_strides_) stride *= m_ * n_;
    if (out_ != compute_) {
      result_at_ = take(batches_ * m_ * n_ * bytes(compute_));
      round_ = loops().find({ir::OpKind::Convert, compute_, out_});
    }
  }

  bool valid() const {
    return (lhs_.widen != nullptr || in_ == compute_) && (rhs_.widen != nullptr || in_ == compute_) &&
           (round_ != nullptr || out_ == compute_);
  }

  std::int64_t workspace_bytes() const override { return workspace_; }

  void run(std::span<const void* const> operands, std::span<void* const> results, void* workspace) const override {
    auto* scratch = static_cast<std::byte*>(workspace);
    const std::byte* a = prepare(lhs_, operands[0], scratch);
    const std::byte* b = prepare(rhs_, operands[1], scratch);
    std::byte* c = out_ == compute_ ? static_cast<std::byte*>(results[0]) : scratch + result_at_;
    const std::int64_t width = bytes(compute_);
    for (Odometer<3> at(batch_, {&lhs_.strides, &rhs_.strides, &result_strides_}); !at.done(); at.next()) {
      gemm(compute_, m_, n_, k_, a + at.offset(0) * width, lhs_.layout, b + at.offset(1) * width, rhs_.layout,
           c + at.offset(2) * width, n_);
    }
    if (round_ != nullptr) round_({{c, nullptr, nullptr}, results[0], batches_ * m_ * n_});
  }

 private:
  struct Prepared {
    std::optional<StridedCopy> packing;
    std::int64_t packed_at = 0;
    Loop widen = nullptr;
    std::int64_t widened_at = 0;
    std::int64_t elements = 0;
    MatrixLayout layout;
    ir::Dims strides;  // of the batch dimensions
  };

  static std::int64_t bytes(ir::DType dtype) { return static_cast<std::int64_t>(ir::dtype_bytes(dtype)); }

  std::int64_t take(std::int64_t size) {
    const std::int64_t at = workspace_;
    workspace_ += (size + 63) / 64 * 64;
    return at;
  }

  void setup(Prepared& prepared, const Side& side, std::int64_t rows) {
    prepared.elements = batches_ * rows * k_;
    if (const auto layout = side.in_place()) {
      prepared.layout = *layout;
      prepared.strides = side.batch_strides;
    } else {
      prepared.packing = side.packing(bytes(in_));
      prepared.packed_at = take(prepared.elements * bytes(in_));
      prepared.layout = {false, std::max<std::int64_t>(k_, 1)};
      prepared.strides = ir::row_major_strides(side.batch);
      for (auto& stride : prepared.strides) stride *= rows * k_;
    }
    if (in_ != compute_) {
      prepared.widen = loops().find({ir::OpKind::Convert, in_, compute_});
      prepared.widened_at = take(prepared.elements * bytes(compute_));
    }
  }

  static const std::byte* prepare(const Prepared& prepared, const void* operand, std::byte* scratch) {
    if (prepared.packing) {
      prepared.packing->run(operand, scratch + prepared.packed_at);
      operand = scratch + prepared.packed_at;
    }
    if (prepared.widen != nullptr) {
      prepared.widen({{operand, nullptr, nullptr}, scratch + prepared.widened_at, prepared.elements});
      operand = scratch + prepared.widened_at;
    }
    return static_cast<const std::byte*>(operand);
  }

  ir::DType in_, out_, compute_ = ir::DType::F32;
  std::int64_t m_ = 1, n_ = 1, k_ = 1, batches_ = 1;
  ir::Dims batch_, result_strides_;
  Prepared lhs_, rhs_;
  Loop round_ = nullptr;
  std::int64_t result_at_ = 0, workspace_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_dot_kernel(const OpContext& context) {
  const auto& attrs = context.op.as<ir::DotGeneralAttrs>();
  const ir::DType in = context.operand(0).dtype;
  if (in != context.operand(1).dtype || !ir::is_float(in) || !ir::is_float(context.result().dtype)) return nullptr;
  if (context.operand(0).elements() == 0 || context.operand(1).elements() == 0) return nullptr;
  Side lhs(context.operand(0), attrs.lhs_batch, attrs.lhs_contracting);
  Side rhs(context.operand(1), attrs.rhs_batch, attrs.rhs_contracting);
  // Contracted pairs may be summed in any order: take the one in which the dimensions lie in the larger operand.
  std::vector<std::size_t> order(lhs.contracted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool by_lhs = context.operand(0).elements() >= context.operand(1).elements();
  const ir::Dims& key = by_lhs ? lhs.contracted_strides : rhs.contracted_strides;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key[a] > key[b]; });
  const auto reorder = [&](ir::Dims& dims) {
    ir::Dims sorted;
    for (std::size_t i : order) sorted.push_back(dims[i]);
    dims = std::move(sorted);
  };
  Side sorted_lhs = lhs, sorted_rhs = rhs;
  for (Side* side : {&sorted_lhs, &sorted_rhs}) {
    ir::Dims sizes = side->contracted, strides = side->contracted_strides;
    reorder(sizes);
    reorder(strides);
    side->contracted = std::move(sizes);
    side->contracted_strides = std::move(strides);
  }
  auto kernel = std::make_unique<DotKernel>(context, std::move(sorted_lhs), std::move(sorted_rhs));
  if (!kernel->valid()) return nullptr;
  return kernel;
}

}  // namespace rhino::kernels::host
