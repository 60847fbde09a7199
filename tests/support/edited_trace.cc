#include "support/edited_trace.h"

#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>

#include "buoy/base/tree_sha256.h"

namespace buoy::testing {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void spill(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::uint64_t header_size(const std::string& bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), 8);
  return size;
}

}  // namespace

EditedTrace::EditedTrace(const fs::path& folder) : manifest(Json::parse(slurp(folder / "manifest.json"))) {
  file_ = manifest["samples"][0]["file"];
  const std::string bytes = slurp(folder / file_);
  const std::uint64_t size = header_size(bytes);
  header = Json::parse(bytes.substr(8, size));
  data = bytes.substr(8 + size);
}

std::int64_t EditedTrace::offset(const std::string& array) const {
  return header.at(array).at("data_offsets").at(0);
}

std::int32_t EditedTrace::integer(const std::string& array, std::int64_t at) const {
  std::int32_t value;
  std::memcpy(&value, data.data() + offset(array) + 4 * at, 4);
  return value;
}

void EditedTrace::set_integer(const std::string& array, std::int64_t at, std::int32_t value) {
  std::memcpy(data.data() + offset(array) + 4 * at, &value, 4);
}

void EditedTrace::set_byte(const std::string& array, std::int64_t at, std::uint8_t value) {
  data[static_cast<size_t>(offset(array) + at)] = static_cast<char>(value);
}

void EditedTrace::set_float(const std::string& array, std::int64_t at, float value) {
  std::memcpy(data.data() + offset(array) + 4 * at, &value, 4);
}

void EditedTrace::replace(const std::string& array, const std::string& bytes) {
  const auto begin = header[array]["data_offsets"][0].get<std::int64_t>(),
             end = header[array]["data_offsets"][1].get<std::int64_t>();
  data.replace(static_cast<size_t>(begin), static_cast<size_t>(end - begin), bytes);
  const auto more = static_cast<std::int64_t>(bytes.size()) - (end - begin);
  for (auto& [name, entry] : header.items()) {
    if (name == "__metadata__" || (name != array && entry["data_offsets"][0].get<std::int64_t>() < end))
      continue;
    if (name != array) entry["data_offsets"][0] = entry["data_offsets"][0].get<std::int64_t>() + more;
    entry["data_offsets"][1] = entry["data_offsets"][1].get<std::int64_t>() + more;
  }
}

void EditedTrace::reshape(const std::string& array, const std::vector<std::int64_t>& shape) {
  const std::string dtype = header[array]["dtype"];
  size_t bytes = dtype == "U8" ? 1 : dtype == "F16" ? 2 : 4;
  for (const auto size : shape) bytes *= static_cast<size_t>(size);
  const auto begin = static_cast<size_t>(offset(array));
  std::string kept = data.substr(begin, header[array]["data_offsets"][1].get<size_t>() - begin);
  kept.resize(bytes, '\0');
  header[array]["shape"] = shape;
  replace(array, kept);
}

void EditedTrace::remove(const std::string& array) {
  replace(array, "");
  header.erase(array);
}

std::string EditedTrace::sample_bytes() const {
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t size = text.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + text + data;
}

void EditedTrace::write(const fs::path& folder) const {
  const std::string bytes = sample_bytes();
  Json out = manifest;
  out.erase("checksum");
  if (fix_sums) {
    out["samples"][0]["bytes"] = bytes.size();
    out["samples"][0].erase("checksum");
    out["samples"][0]["tree_sha256"] = tree_sha256_hex(std::as_bytes(std::span(bytes)));
  }
  fs::create_directories(folder / "samples");
  spill(folder / "manifest.json", out.dump(2));
  spill(folder / file_, bytes);
}

void remove_manifest_sum(const fs::path& manifest) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(slurp(manifest));
  json.erase("checksum");
  spill(manifest, json.dump(2) + "\n");
}

}  // namespace buoy::testing
