#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/tensor/cuda_check.cuh"
#include "buoy/tensor/device_memory.h"

namespace buoy {
namespace {

cudaStream_t raw(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

void copy(const Stream& stream, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes > 0) cuda_check(cudaMemcpyAsync(to, from, bytes, kind, raw(stream)), "copy memory");
}

__global__ void write_words(std::uint32_t* to, const std::uint32_t* from, std::size_t count) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] = from[i];
}

constexpr std::size_t kMostWrites = 16;
struct Writes {
  struct {
    std::uint32_t* to;
    const std::uint32_t* from;
    std::size_t words;
  } of[kMostWrites];
};

// A block for each.
__global__ void write_pieces(const __grid_constant__ Writes writes) {
  const auto& one = writes.of[blockIdx.x];
  for (std::size_t i = threadIdx.x; i < one.words; i += blockDim.x) one.to[i] = one.from[i];
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) cudaFree(data_);
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
void* DeviceMemory::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return data_;
  if (data_ != nullptr) cuda_check(cudaFree(data_), "free memory");
  data_ = nullptr;
  bytes_ = 0;
  const cudaError_t status = cudaMalloc(&data_, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is reported here and must not show up again after the next launch
    std::size_t free_bytes = 0, total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    throw IoError("GPU memory: expected " + std::to_string(bytes) + " bytes free, found " +
                  std::to_string(free_bytes) + " of " + std::to_string(total_bytes));
  }
  cuda_check(status, "allocate memory");
  bytes_ = bytes;
  return data_;
}

PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) cudaFreeHost(data_);
}
PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
void* PinnedMemory::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return data_;
  if (data_ != nullptr) cuda_check(cudaFreeHost(data_), "free pinned memory");
  data_ = nullptr;
  bytes_ = 0;
  cuda_check(cudaMallocHost(&data_, bytes), "allocate pinned host memory");
  bytes_ = bytes;
  return data_;
}

void copy_to_device(const Stream& stream, void* device, const void* host, std::size_t bytes) {
  copy(stream, device, host, bytes, cudaMemcpyHostToDevice);
}
void copy_to_host(const Stream& stream, void* host, const void* device, std::size_t bytes) {
  copy(stream, host, device, bytes, cudaMemcpyDeviceToHost);
}
void write_to_host(const Stream& stream, void* pinned, const void* device, std::size_t bytes) {
  if (bytes == 0) return;
  BUOY_CHECK(bytes % sizeof(std::uint32_t) == 0);
  constexpr std::size_t kThreads = 256, kMostBlocks = 16;
  const std::size_t words = bytes / sizeof(std::uint32_t),
                    blocks = std::min(kMostBlocks, (words + kThreads - 1) / kThreads);
  write_words<<<static_cast<unsigned>(blocks), kThreads, 0, raw(stream)>>>(
      static_cast<std::uint32_t*>(pinned), static_cast<const std::uint32_t*>(device), words);
  cuda_check(cudaGetLastError(), "write to the host");
}
void write_to_host(const Stream& stream, std::span<const HostWrite> writes) {
  for (std::size_t first = 0; first < writes.size(); first += kMostWrites) {
    const auto some = writes.subspan(first, std::min(kMostWrites, writes.size() - first));
    Writes all{};
    for (std::size_t i = 0; i < some.size(); ++i) {
      BUOY_CHECK(some[i].bytes % sizeof(std::uint32_t) == 0);
      all.of[i] = {static_cast<std::uint32_t*>(some[i].pinned),
                   static_cast<const std::uint32_t*>(some[i].device), some[i].bytes / sizeof(std::uint32_t)};
    }
    write_pieces<<<static_cast<unsigned>(some.size()), 256, 0, raw(stream)>>>(all);
    cuda_check(cudaGetLastError(), "write to the host");
  }
}
void copy_rows_to_host(const Stream& stream, void* host, const void* device, const RowsOfBytes& shape) {
  if (shape.rows == 0 || shape.row_bytes == 0) return;
  cuda_check(cudaMemcpy2DAsync(host, shape.host_step, device, shape.device_step, shape.row_bytes, shape.rows,
                               cudaMemcpyDeviceToHost, raw(stream)),
             "copy rows");
}
void copy_on_device(const Stream& stream, void* to, const void* from, std::size_t bytes) {
  copy(stream, to, from, bytes, cudaMemcpyDeviceToDevice);
}
void fill_bytes(const Stream& stream, void* device, int value, std::size_t bytes) {
  if (bytes > 0) cuda_check(cudaMemsetAsync(device, value, bytes, raw(stream)), "fill memory");
}

}  // namespace buoy
