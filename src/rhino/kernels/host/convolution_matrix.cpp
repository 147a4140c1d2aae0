// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <rhino/kernels/host/convolution.hpp>
#include <rhino/kernels/host/gemm.hpp>
#include <rhino/kernels/host/odometer.hpp>

namespace rhino::kernels::host {

namespace {

/// For every group and image: rows of the window matrix are result positions, columns are (window position, feature); the
/// kernel is packed as [group][out feature][window position, feature]; the product is scattered into the result.
template <class T>
class MatrixConvolution final : public Kernel {
 public:
  explicit MatrixConvolution(const ConvolutionProblem& problem)
      : problem_(problem), groups_(problem.feature_groups * problem.batch_groups) {
    for (const auto& s : problem.spatial) {
      window_shape_.push_back(s.window.size);
      out_shape_.push_back(s.out);
      out_strides_.push_back(s.out_stride);
    }
    for (std::int64_t size : window_shape_) window_ *= size;
    for (std::int64_t size : out_shape_) positions_ *= size;
    columns_ = window_ * problem.in_features;
    group_out_ = problem.out_features / groups_;
    // Kernel: [out feature, window.., in feature], reversed windows read backwards.
    ir::Dims shape{problem.out_features}, strides{problem.kernel_out_stride};
    for (const auto& s : problem.spatial) {
      shape.push_back(s.window.size);
      strides.push_back(s.kernel_stride);
      if (s.window.reversal) {
        kernel_start_ += (s.window.size - 1) * s.kernel_stride;
        strides.back() = -s.kernel_stride;
      }
    }
    shape.push_back(problem.in_features);
    strides.push_back(problem.kernel_in_stride);
    kernel_shape_ = shape, kernel_strides_ = strides;
    block_ = std::clamp<std::int64_t>((std::int64_t{1} << 18) / std::max<std::int64_t>(columns_, 1), 1, positions_);
    const auto aligned = [](std::int64_t elements) { return (elements * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64; };
    kernel_bytes_ = aligned(problem.out_features * columns_);
    matrix_bytes_ = aligned(block_ * columns_);
    product_bytes_ = aligned(block_ * group_out_);
  }

  std::int64_t workspace_bytes() const override { return kernel_bytes_ + matrix_bytes_ + product_bytes_; }

  void run(std::span<const void* const> operands, std::span<void* const> results, void* workspace) const override {
    const T* in = static_cast<const T*>(operands[0]);
    const T* kernel = static_cast<const T*>(operands[1]);
    T* out = static_cast<T*>(results[0]);
    auto* bytes = static_cast<std::byte*>(workspace);
    T* packed = reinterpret_cast<T*>(bytes);
    T* matrix = reinterpret_cast<T*>(bytes + kernel_bytes_);
    T* product = reinterpret_cast<T*>(bytes + kernel_bytes_ + matrix_bytes_);
    T* to = packed;
    for (Odometer<1> at(kernel_shape_, {&kernel_strides_}); !at.done(); at.next()) *to++ = kernel[kernel_start_ + at.offset(0)];

    constexpr ir::DType dtype = sizeof(T) == 4 ? ir::DType::F32 : ir::DType::F64;
    for (std::int64_t g = 0; g < groups_; ++g) {
      for (std::int64_t b = 0; b < problem_.batch; ++b) {
        const std::int64_t image = problem_.batch_groups > 1 ? g * problem_.batch + b : b;
        const std::int64_t first_feature = problem_.feature_groups > 1 ? g * problem_.in_features : 0;
        const T* x = in + image * problem_.in_batch_stride + first_feature * problem_.in_feature_stride;
        T* y = out + b * problem_.out_batch_stride + g * group_out_ * problem_.out_feature_stride;
        Odometer<1> position(out_shape_, {&out_strides_});
        std::vector<std::int64_t> index(out_shape_.size(), 0);
        for (std::int64_t start = 0; start < positions_; start += block_) {
          const std::int64_t rows = std::min(block_, positions_ - start);
          for (std::int64_t r = 0; r < rows; ++r) {
            fill_row(x, index, matrix + r * columns_);
            advance(index);
          }
          gemm(dtype, rows, group_out_, columns_, matrix, {false, columns_}, packed + g * group_out_ * columns_,
               {false, columns_}, product, group_out_);
          for (std::int64_t r = 0; r < rows; ++r, position.next()) {
            T* target = y + position.offset(0);
            const T* from = product + r * group_out_;
            if (problem_.out_feature_stride == 1) {
              std::copy(from, from + group_out_, target);
            } else {
              for (std::int64_t o = 0; o < group_out_; ++o) target[o * problem_.out_feature_stride] = from[o];
            }
          }
        }
      }
    }
  }

 private:
  void advance(std::vector<std::int64_t>& index) const {
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < out_shape_[d]) return;
      index[d] = 0;
    }
  }

  /// The elements under the window at a result position; zero outside and between the elements of a dilated input.
  void fill_row(const T* x, const std::vector<std::int64_t>& index, T* row) const {
    std::vector<std::int64_t> at(window_shape_.size(), 0);
    for (std::int64_t w = 0; w < window_; ++w, row += problem_.in_features) {
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t d = 0; d < at.size(); ++d) {
        const auto& s = problem_.spatial[d];
        const std::int64_t dilated = index[d] * s.window.stride + at[d] * s.window.window_dilation - s.window.pad_low;
        inside = inside && dilated >= 0 && dilated % s.window.base_dilation == 0 && dilated / s.window.base_dilation < s.in;
        if (!inside) break;
        offset += dilated / s.window.base_dilation * s.in_stride;
      }
      if (!inside) {
        std::fill_n(row, problem_.in_features, T(0));
      } else if (problem_.in_feature_stride == 1) {
        std::copy_n(x + offset, problem_.in_features, row);
      } else {
        for (std::int64_t f = 0; f < problem_.in_features; ++f) row[f] = x[offset + f * problem_.in_feature_stride];
      }
      for (std::size_t d = at.size(); d-- > 0;) {
        if (++at[d] < window_shape_[d]) break;
        at[d] = 0;
      }
    }
  }

  ConvolutionProblem problem_;
  std::int64_t groups_, window_ = 1, positions_ = 1, columns_ = 1, group_out_ = 1, block_ = 1;
  std::int64_t kernel_start_ = 0, kernel_bytes_ = 0, matrix_bytes_ = 0, product_bytes_ = 0;
  ir::Dims window_shape_, out_shape_, out_strides_, kernel_shape_, kernel_strides_;
};

}  // namespace

std::unique_ptr<Kernel> make_matrix_convolution(const ConvolutionProblem& problem) {
  if (problem.dtype == ir::DType::F32) return std::make_unique<MatrixConvolution<float>>(problem);
  if (problem.dtype == ir::DType::F64) return std::make_unique<MatrixConvolution<double>>(problem);
  return nullptr;
}

}  // namespace rhino::kernels::host
