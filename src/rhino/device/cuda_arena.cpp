// SPDX-License-Identifier: Apache-2.0
#include <rhino/device/cuda_arena.hpp>

#include <rhino/device/cuda_check.hpp>

namespace rhino::device {
namespace {

class CudaArena final : public Arena {
 public:
  explicit CudaArena(std::int64_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    const cudaError_t code = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
    RHINO_CHECK_AS(EnvironmentError, code == cudaSuccess, "cannot allocate the arena of {} bytes on the CUDA device: {}",
                   bytes, cudaGetErrorString(code));
    data_ = static_cast<std::byte*>(memory);
    const cudaError_t cleared = cudaMemset(memory, 0, static_cast<std::size_t>(bytes));
    if (cleared != cudaSuccess) {
      cudaFree(memory);
      RHINO_FAIL(EnvironmentError, "cannot clear the arena on the CUDA device: {}", cudaGetErrorString(cleared));
    }
  }
  ~CudaArena() override { cudaFree(data_); }
  std::byte* data() override { return data_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  std::int64_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace

int cuda_device_count() noexcept {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::unique_ptr<Arena> make_cuda_arena(std::int64_t bytes) { return std::make_unique<CudaArena>(bytes); }

void copy_to_device(void* device, const void* host, std::int64_t bytes) {
  RHINO_CUDA_CHECK(cudaMemcpy(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice));
}

void copy_to_host(void* host, const void* device, std::int64_t bytes) {
  RHINO_CUDA_CHECK(cudaMemcpy(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost));
}

}  // namespace rhino::device
