#include "buoy/tensor/device_memory.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy {

DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;
void* DeviceMemory::reserve(std::size_t) {
  throw_no_cuda();
}

PinnedMemory::~PinnedMemory() = default;
PinnedMemory::PinnedMemory(PinnedMemory&&) noexcept = default;
PinnedMemory& PinnedMemory::operator=(PinnedMemory&&) noexcept = default;
void* PinnedMemory::reserve(std::size_t) {
  throw_no_cuda();
}

void copy_to_device(const Stream&, void*, const void*, std::size_t) {
  throw_no_cuda();
}
void copy_to_host(const Stream&, void*, const void*, std::size_t) {
  throw_no_cuda();
}
void write_to_host(const Stream&, void*, const void*, std::size_t) {
  throw_no_cuda();
}
void write_to_host(const Stream&, std::span<const HostWrite>) {
  throw_no_cuda();
}
void copy_rows_to_host(const Stream&, void*, const void*, const RowsOfBytes&) {
  throw_no_cuda();
}
void copy_on_device(const Stream&, void*, const void*, std::size_t) {
  throw_no_cuda();
}
void fill_bytes(const Stream&, void*, int, std::size_t) {
  throw_no_cuda();
}

}  // namespace buoy
