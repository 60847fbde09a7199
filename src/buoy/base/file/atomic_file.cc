#include "buoy/base/file/atomic_file.h"

#include "buoy/base/error.h"

namespace buoy {

void AtomicFile::write(std::span<const std::byte> bytes) {
  file_.write_at(size_, bytes);
  size_ += bytes.size();
}

void AtomicFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  BUOY_CHECK(offset + bytes.size() <= size_);
  file_.write_at(offset, std::as_bytes(std::span(bytes)));
}

}  // namespace buoy
