#include "buoy/checkpoint/weights_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/base/sha256.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;

// Names, shapes and places of all tensors: the index of a sharded checkpoint, else the header of its one
// file.
std::string layout_sum(const fs::path& folder) {
  const auto index = folder / "model.safetensors.index.json";
  if (path_exists(index)) return sha256_of_file(index);
  const auto single = folder / "model.safetensors";
  const MappedFile file(single);
  return sha256_hex(safetensors_header(file.bytes(), single.string()));
}

std::vector<fs::path> weight_files(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    if (at->path().extension() == ".safetensors") files.push_back(at->path());
  }
  if (failure) throw_io_error("list", folder.string(), failure.value());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string weights_identity(const Checkpoint& checkpoint) {
  constexpr std::uint64_t kPieces = 64, kPiece = 1 << 14;
  const fs::path& folder = checkpoint.folder();
  std::string sums = layout_sum(folder) + "\n";
  for (const auto& path : weight_files(folder)) {
    const MappedFile file(path);
    const auto bytes = file.bytes();
    Sha256 pieces;
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      const std::uint64_t at = bytes.size() / kPieces * i;
      pieces.update(bytes.subspan(at, std::min<std::uint64_t>(kPiece, bytes.size() - at)));
    }
    sums += fmt::format("{} {} {}\n", path.filename().string(), bytes.size(), pieces.hex());
  }
  return sha256_hex(sums);
}

}  // namespace buoy
