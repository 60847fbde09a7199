#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace buoy::questions {

// The bytes of a file from beginning to end, unpacked when it is gzip (by its first bytes, not its name;
// one member after another). Holds two small buffers whatever the file's size.
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;

  bool compressed() const;

  // Fills `into` as far as it can; 0 only at the end. InputError at `where` when the gzip stream is damaged
  // or ends too early: bytes before the damage have been handed out by then.
  std::size_t read(std::span<char> into, const std::string& where);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace buoy::questions
