#include "device_array.h"

#include <functional>
#include <numeric>
#include <utility>

namespace buoy::python {
namespace {

// The structures of DLPack, by its published binary interface (version 0.x, which every consumer takes).
struct DlDevice {
  std::int32_t type, number;
};
struct DlDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t dimensions;
  DlDataType type;
  std::int64_t* shape;
  std::int64_t* strides;  // null: rows without gaps
  std::uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* manager;
  void (*deleter)(DlManagedTensor* self);
};

constexpr DlDevice kFirstCard = {2, 0};
constexpr DlDataType kFloat32 = {2, 32, 1};

// What a capsule stands for: a share of the memory, and a shape that outlives the array.
struct Shared {
  std::shared_ptr<const DeviceMemory> memory;
  std::vector<std::int64_t> shape;
  DlManagedTensor managed;
};

std::size_t bytes_of(const std::vector<std::int64_t>& shape) {
  return static_cast<std::size_t>(
             std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())) *
         sizeof(float);
}

// A consumer renames the capsule when it takes the tensor; until then it is ours to free.
void free_unused(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  managed->deleter(managed);
}

}  // namespace

DeviceArray::DeviceArray(const float* on_device, std::vector<std::int64_t> shape) : shape_(std::move(shape)) {
  const std::size_t bytes = bytes_of(shape_);
  auto memory = std::make_shared<DeviceMemory>(bytes);
  const Stream stream;
  copy_on_device(stream, memory->data(), on_device, bytes);
  stream.synchronize();
  memory_ = std::move(memory);
}

pybind11::capsule DeviceArray::dlpack() const {
  auto shared = std::make_unique<Shared>(Shared{memory_, shape_, {}});
  shared->managed = {{shared->memory->data(), kFirstCard, static_cast<std::int32_t>(shape_.size()), kFloat32,
                      shared->shape.data(), nullptr, 0},
                     shared.get(),
                     [](DlManagedTensor* self) { delete static_cast<Shared*>(self->manager); }};
  PyObject* capsule = PyCapsule_New(&shared->managed, "dltensor", &free_unused);
  if (capsule == nullptr) throw pybind11::error_already_set();
  shared.release();
  return pybind11::reinterpret_steal<pybind11::capsule>(capsule);
}

}  // namespace buoy::python
