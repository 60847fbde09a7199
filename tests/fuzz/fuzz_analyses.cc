#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "analysis/everything.h"
#include "buoy/base/error.h"
#include "buoy/run/change/column_change.h"
#include "buoy/study/explored_trace.h"
#include "support/temp_folder.h"

// A whole small trace, its manifest and its sample changed in any way, through everything that computes from
// traces: analyses, export, the report's explorer, hidden columns. Only buoy::Error may come out. The mutator
// knows the format, so that most changes get past the parsers.

using buoy::testing::PackedTrace;
using Json = nlohmann::ordered_json;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t count) {
  return count == 0 ? 0 : random() % count;
}

std::int64_t odd_number(Random& random) {
  constexpr std::int64_t kNumbers[] = {0,   1,   2,   3,     4,         5,         7,         8,
                                       13,  14,  15,  16,    -1,        -2,        98,        99,
                                       100, 255, 256, 65535, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  return kNumbers[below(random, std::size(kNumbers))];
}

// Every number and text inside a JSON value.
void collect(Json& json, std::vector<Json*>& leaves) {
  if (json.is_structured()) {
    for (auto& item : json) collect(item, leaves);
  } else {
    leaves.push_back(&json);
  }
}

// One more or one less; unsigned, because the largest number has a neighbour too.
std::int64_t neighbour(const Json& number, Random& random) {
  return static_cast<std::int64_t>(number.get<std::uint64_t>() + (random() % 2 == 0 ? 1u : ~0ull));
}

void change_leaf(Json& json, Random& random) {
  std::vector<Json*> leaves;
  collect(json, leaves);
  if (leaves.empty()) return;
  Json& leaf = *leaves[below(random, leaves.size())];
  const std::int64_t number = odd_number(random);
  switch (below(random, 4)) {
    case 0:
      leaf = nullptr;
      break;
    case 1:
      leaf = std::to_string(number);
      break;
    case 2:
      if (leaf.is_number_integer()) {
        leaf = neighbour(leaf, random);
        break;
      }
      [[fallthrough]];
    default:
      leaf = number;
  }
}

// The parts of a safetensors file; `header` is null when it is none.
struct Parts {
  Json header;
  std::string data;

  explicit Parts(const std::string& bytes) {
    std::uint64_t size = 0;
    if (bytes.size() < 8) return;
    std::memcpy(&size, bytes.data(), 8);
    if (size > bytes.size() - 8) return;
    Json parsed = Json::parse(bytes.substr(8, size), nullptr, false);
    if (!parsed.is_object()) return;
    header = std::move(parsed);
    data = bytes.substr(8 + size);
  }

  std::string bytes() const {
    const std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::uint64_t size = text.size();
    std::string out(8, '\0');
    std::memcpy(out.data(), &size, 8);
    return out + text + data;
  }

  // Mutations of bytes may have made anything of it.
  static bool is_array(const Json& entry) {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("data_offsets")) return false;
    const Json& offsets = entry.at("data_offsets");
    return offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
           offsets[1].is_number_unsigned();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__" && is_array(entry)) names.push_back(name);
    }
    return names;
  }
};

void change_element(Parts& parts, Random& random) {
  const auto names = parts.names();
  if (names.empty()) return;
  const Json& entry = parts.header[names[below(random, names.size())]];
  const auto begin = entry["data_offsets"][0].get<std::uint64_t>(),
             end = entry["data_offsets"][1].get<std::uint64_t>();
  if (begin >= end || end > parts.data.size()) return;
  if (entry["dtype"] == "U8" || end - begin < 4) {
    parts.data[begin + below(random, end - begin)] = static_cast<char>(odd_number(random));
    return;
  }
  char* at = parts.data.data() + begin + 4 * below(random, (end - begin) / 4);
  if (entry["dtype"] == "I32") {
    const auto value = static_cast<std::int32_t>(odd_number(random));
    std::memcpy(at, &value, 4);
    return;
  }
  constexpr float kFloats[] = {0, -0.0f, 1, -1, 0.5f, 1e-40f, 1e30f, 3.4e38f, 14, 1e-10f};
  const float value = kFloats[below(random, std::size(kFloats))];
  std::memcpy(at, &value, 4);
}

// One dimension of an array, with the bytes it then takes.
void change_size(Parts& parts, Random& random) {
  const auto names = parts.names();
  if (names.empty()) return;
  const std::string name = names[below(random, names.size())];
  Json& shape = parts.header[name]["shape"];
  if (!shape.is_array() || shape.empty()) return;
  Json& size = shape[below(random, shape.size())];
  if (!size.is_number_integer()) return;
  size = std::max<std::int64_t>(0, neighbour(size, random));
  std::uint64_t bytes = parts.header[name]["dtype"] == "U8" ? 1 : 4;
  for (const auto& one : shape) {
    if (!one.is_number_integer()) return;
    bytes *= one.get<std::uint64_t>();
  }
  std::string data;
  for (auto& [other, entry] : parts.header.items()) {
    if (other == "__metadata__") continue;
    if (!Parts::is_array(entry)) return;
    const auto begin = entry["data_offsets"][0].get<std::uint64_t>(),
               end = entry["data_offsets"][1].get<std::uint64_t>();
    if (begin > end || end > parts.data.size()) return;
    std::string own = parts.data.substr(begin, end - begin);
    if (other == name) own.resize(std::min<std::uint64_t>(bytes, 1 << 16), '\1');
    entry["data_offsets"] = {data.size(), data.size() + own.size()};
    data += own;
  }
  parts.data = std::move(data);
}

void drop_array(Parts& parts, Random& random) {
  const auto names = parts.names();
  if (names.empty()) return;
  const std::string name = names[below(random, names.size())];
  // Under a private name nobody reads it, and the others stay in their places.
  Json entry = parts.header[name];  // a copy: the map grows below
  parts.header["x_" + name] = std::move(entry);
  parts.header.erase(name);
}

void change_sample(PackedTrace& trace, Random& random) {
  Parts parts(trace.sample);
  if (parts.header.is_null()) return;
  switch (below(random, 8)) {
    case 0:
      change_leaf(parts.header, random);
      break;
    case 1:
      if (parts.header.contains("__metadata__")) change_leaf(parts.header["__metadata__"], random);
      break;
    case 2:
      change_size(parts, random);
      break;
    case 3:
      drop_array(parts, random);
      break;
    default:
      change_element(parts, random);
  }
  trace.sample = parts.bytes();
}

void change_manifest(PackedTrace& trace, Random& random) {
  Json json = Json::parse(trace.manifest, nullptr, false);
  if (!json.is_object()) return;
  const bool model = json.contains("model") && random() % 2 == 0;
  change_leaf(model ? json["model"] : json, random);
  trace.manifest = json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Deeper than one field: the same change wherever a size stands.
void change_heads(PackedTrace& trace, Random& random) {
  Json json = Json::parse(trace.manifest, nullptr, false);
  if (!json.is_object() || !json.contains("model") || !json["model"].is_object()) return;
  json["model"][random() % 2 == 0 ? "layers" : "head_dim"] = 1 + below(random, 5);
  trace.manifest = json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void hide_columns(const std::filesystem::path& folder) {
  const buoy::run::ColumnBook book(folder);
  std::vector<std::int32_t> prompt(10);
  for (std::size_t i = 0; i < prompt.size(); ++i) prompt[i] = 20 + static_cast<std::int32_t>(i);
  for (const auto& hidden : buoy::run::all_column_changes()) book.choose("s", prompt, hidden, 1);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  Random random(seed + 1);
  PackedTrace trace = PackedTrace::unpack({reinterpret_cast<const char*>(data), size});
  if (trace.sample.size() < 100) {
    const bool causal = random() % 2 == 0;
    trace = random() % 2 == 0 ? buoy::testing::small_packed_trace(causal)
                              : buoy::testing::small_packed_states(causal);
  }
  for (std::size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    try {
      const std::size_t kind = below(random, 16);
      if (kind == 0) return LLVMFuzzerMutate(data, size, most);
      if (kind < 4) change_manifest(trace, random);
      if (kind == 4) change_heads(trace, random);
      if (kind > 10) buoy::testing::change_state(trace, random);
      if (kind > 4 && kind < 13) change_sample(trace, random);
    } catch (const Json::exception&) {
      // A field of another type than the mutator took it for.
    }
  }
  const std::string packed = trace.pack();
  if (packed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, packed.data(), packed.size());
  return packed.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const buoy::testing::TempFolder folder;
  const auto trace = folder / "t";
  PackedTrace::unpack({reinterpret_cast<const char*>(data), size}).write(trace);
  buoy::testing::compute_everything(trace);
  buoy::analysis::RunOptions options;
  options.trust = true;
  buoy::study::explored_trace({trace, "trace"}, options);
  try {
    hide_columns(trace);
  } catch (const buoy::InternalError&) {
    std::abort();
  } catch (const buoy::Error&) {
  }
  return 0;
}
