#include "analysis/everything.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "buoy/analysis/core/kept.h"
#include "buoy/analysis/core/run.h"
#include "buoy/analysis/sample/replay.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/sha256.h"
#include "buoy/base/tree_sha256.h"
#include "buoy/trace/manifest_json.h"
#include "buoy/trace/npz_export.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/sample.h"
#include "buoy/trace/schema.h"
#include "buoy/trace/writer.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace fs = std::filesystem;
namespace {

constexpr const char* kId = "s";
constexpr std::int64_t kTokens = 14, kPrompt = 10, kHeads = 2, kLayers = 3, kDim = 2;

void spill(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

trace::Manifest manifest_of(bool causal) {
  trace::Manifest manifest;
  manifest.created_by = "buoy test";
  manifest.model = {.name = "small",
                    .family = causal ? "Llama" : "LLaDA",
                    .architecture = "small",
                    .stored_dtype = "F32",
                    .layers = kLayers,
                    .heads = kHeads,
                    .kv_heads = 1,
                    .head_dim = kDim,
                    .hidden = kHeads * kDim,
                    .vocabulary = 100,
                    .config_sha256 = sha256_hex("small"),
                    .weights_sha256 = sha256_hex("small")};
  manifest.sample_ids = {kId};
  return manifest;
}

std::vector<std::int32_t> counted(std::int64_t count, std::int32_t first = 0) {
  std::vector<std::int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Plausible values: shares below 1, and a little different everywhere.
std::vector<float> shares(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(0.02f + static_cast<float>(i * 37 % 101) / 1200);
  return values;
}

trace::Sample sample_of(bool causal) {
  const std::int64_t S = causal ? 1 : 3, T = kTokens, R = T - kPrompt;
  const std::vector<std::string> regions = {"bos", "template", "query", "document 1", "document 2", "answer"};
  const std::vector<std::string> groups = {"bos",        "template",         "query",         "document 1",
                                           "document 2", "answer, revealed", "answer, masked"};
  const std::map<char, std::int64_t> sizes = {{'S', S},      {'L', kLayers}, {'G', std::ssize(groups)},
                                              {'H', kHeads}, {'V', 1},       {'C', std::ssize(regions)},
                                              {'T', T},      {'R', R},       {'K', 2},
                                              {'D', kDim},   {'A', R},       {'P', 2},
                                              {'X', 2},      {'E', 4},       {'M', kHeads * kDim}};
  trace::Sample sample{kId, {}, {}};
  std::vector<std::uint8_t> region = {0, 1, 2, 2, 3, 3, 3, 4, 4, 1, 5, 5, 5, 5}, evidence(14, 0),
                            special(14, 0);
  evidence[5] = evidence[6] = 1;
  special[0] = special[13] = 1;
  std::vector<std::int32_t> row = counted(T, 20), revealed(static_cast<size_t>(T), -1), rows, group_sizes,
                            top, predicted;
  row[10] = row[5];  // an answer that copies its evidence
  for (std::int64_t p = kPrompt; p < T; ++p)
    revealed[static_cast<size_t>(p)] = static_cast<std::int32_t>(causal ? p - kPrompt : (p - kPrompt) / 2);
  for (std::int64_t s = 0; s < S; ++s) {
    std::int32_t masked = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      const bool hidden = !causal && revealed[j] >= s;
      rows.push_back(hidden ? 99 : row[j]);
      masked += hidden;
    }
    group_sizes.insert(group_sizes.end(), {1, 2, 2, 3, 2, 4 - masked, masked});
  }
  const std::int64_t offset = causal ? 1 : 0;
  for (std::int64_t i = 0; i < S * kLayers * R * kHeads * 2; ++i)
    top.push_back(static_cast<std::int32_t>(i % 7));
  for (std::int64_t i = 0; i < S * R * 2; ++i)  // often the token that comes
    predicted.push_back(i % 3 == 0 ? 7 : row[static_cast<size_t>(kPrompt + i / 2 % R)]);
  const auto add = [&](trace::Array array) { sample.arrays.push_back(std::move(array)); };
  add(trace::integer_array(trace::kTokens, {T}, row));
  add(trace::integer_array(trace::kTokensByStep, {S, T}, rows));
  add(trace::integer_array(trace::kRevealedAt, {T}, revealed));
  add(trace::integer_array(trace::kSteps, {S}, counted(S)));
  add(trace::integer_array(trace::kLayers, {kLayers}, counted(kLayers)));
  add(trace::integer_array(trace::kGroupSizes, {S, std::ssize(groups)}, group_sizes));
  add(trace::integer_array(trace::kRowPositions, {R},
                           counted(R, static_cast<std::int32_t>(kPrompt - offset))));
  add(trace::integer_array(trace::kTopKeys, {S, kLayers, R, kHeads, 2}, top));
  add(trace::integer_array(trace::kPredictedTokens, {S, R, 2}, predicted));
  std::vector<std::int32_t> experts, load(static_cast<size_t>(S * kLayers * 4), 0);
  for (std::int64_t i = 0; i < S * kLayers * T; ++i) {  // two different ones of four
    for (const std::int64_t expert : {i % 4, (i + 1 + i / 4 % 3) % 4}) {
      experts.push_back(static_cast<std::int32_t>(expert));
      ++load[static_cast<size_t>(i / T * 4 + expert)];
    }
  }
  add(trace::integer_array(trace::kRoutedExperts, {S, kLayers, T, 2}, experts));
  add(trace::integer_array(trace::kExpertLoad, {S, kLayers, 4}, load));
  add(trace::byte_array(trace::kRegionOfToken, {T}, region));
  add(trace::byte_array(trace::kEvidence, {T}, evidence));
  add(trace::byte_array(trace::kSpecial, {T}, special));
  for (const auto& schema : trace::array_schema()) {
    if (schema.element != trace::Element::kFloat || schema.observe.empty()) continue;
    std::vector<std::int64_t> shape;
    for (const char letter : schema.shape) {
      if (letter != ' ') shape.push_back(sizes.at(letter));
    }
    std::string name(schema.name);
    for (const auto& [mark, number] : {std::pair{"{s}", S - 1}, {"{l}", std::int64_t{0}}}) {
      if (const size_t at = name.find(mark); at != std::string::npos)
        name.replace(at, 3, std::to_string(number));
    }
    const std::int64_t count =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    add(trace::float_array(name, shape, shares(count)));
  }
  std::vector<std::string> texts;
  for (std::int64_t j = 0; j < T; ++j) texts.push_back(j % 3 == 0 ? "." : j % 3 == 1 ? " word" : "7");
  const auto set = [&](std::string_view key, const std::string& value) {
    sample.metadata[std::string(key)] = value;
  };
  set(trace::kQuestion, "who?");
  set(trace::kPromptLength, std::to_string(kPrompt));
  set(trace::kTokenTexts, trace::format_text_list(texts));
  set(trace::kRegionNames, trace::format_text_list(regions));
  set(trace::kGroupNames, trace::format_text_list(groups));
  set(trace::kGoldRegions, R"(["document 1"])");
  set(trace::kAttention, causal ? "causal" : "bidirectional");
  set(trace::kPredictionOffset, std::to_string(offset));
  if (!causal) set(trace::kMaskToken, "99");
  if (!causal) set(trace::kFinalStep, std::to_string(S - 1));
  return sample;
}

// Nothing but a bug may come out of what is done with a trace.
void attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
  }
}

void read_all(const trace::TraceReader& reader, const fs::path& scratch) {
  for (const auto& entry : reader.samples()) {
    attempt([&] {
      const auto sample = reader.read(entry.id);
      for (const auto& name : sample.names()) {
        attempt([&] { sample.floats(name); });
        attempt([&] { sample.integers(name); });
      }
      attempt([&] { trace::export_npz(sample, scratch); });
    });
  }
}

}  // namespace

PackedTrace PackedTrace::unpack(std::string_view packed) {
  const size_t end = std::min(packed.find('\n'), packed.size());
  return {std::string(packed.substr(0, end)), std::string(packed.substr(std::min(end + 1, packed.size())))};
}

void PackedTrace::write(const fs::path& folder) const {
  std::string text = manifest;
  auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("samples") && json["samples"].is_array() &&
      !json["samples"].empty() && json["samples"][0].is_object()) {
    auto& entry = json["samples"][0];
    entry["id"] = kId;
    entry["file"] = std::string("samples/") + kId + ".safetensors";
    entry["bytes"] = sample.size();
    entry.erase("checksum");
    entry["tree_sha256"] = tree_sha256_hex(std::as_bytes(std::span(sample)));
    json.erase("checksum");
    text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  fs::create_directories(folder / "samples");
  spill(folder / "manifest.json", text);
  spill(folder / "samples" / (std::string(kId) + ".safetensors"), sample);
}

PackedTrace small_packed_trace(bool causal) {
  const std::string sample = trace::format_sample(sample_of(causal), trace::Storage::kF32);
  const std::vector<trace::SampleEntry> entries = {
      {.id = kId,
       .status = trace::Status::kDone,
       .error = "",
       .file = std::string("samples/") + kId + ".safetensors",
       .bytes = sample.size(),
       .checksum = "",
       .tree_sha256 = tree_sha256_hex(std::as_bytes(std::span(sample)))}};
  const auto manifest = nlohmann::ordered_json::parse(format_manifest(manifest_of(causal), entries));
  return {manifest.dump(), sample};
}

PackedTrace small_packed_states(bool causal) {
  const TempFolder folder;
  small_packed_trace(causal).write(folder.path());
  const auto reader = trace::TraceReader::open(folder.path());
  const analysis::StoredSource source(reader.manifest(), reader.read(kId));
  std::vector<std::string> names;
  std::vector<std::unique_ptr<analysis::Analysis>> analyses;
  for (const auto& kind : analysis::analysis_kinds()) {
    names.emplace_back(kind.producer.name);
    analyses.push_back(kind.make({"small", reader.manifest()}, {}));
  }
  analysis::SampleRun run(analyses, source.sample());
  ThreadPool alone(1);
  analysis::replay(source, {}, alone,
                   {[&](const analysis::LayerView& layer) { run.take(layer); },
                    [&](std::int64_t l) { run.finish_layer(source.sample(), l); },
                    [&](const analysis::ForwardView& forward) { run.take_forward(forward); }});
  run.end(source.sample());
  trace::Sample sample = sample_of(causal);
  nlohmann::ordered_json observed = nlohmann::ordered_json::array();
  std::erase_if(sample.arrays, [&](const trace::Array& array) {
    const auto observe = std::string(trace::find_array(array.name)->observe);
    if (!observe.empty() && std::find(observed.begin(), observed.end(), observe) == observed.end())
      observed.push_back(observe);
    return !observe.empty();
  });
  const auto states = run.states();
  for (size_t a = 0; a < states.size(); ++a)
    sample.arrays.push_back(
        trace::byte_array(trace::state_name(names[a]), {std::ssize(states[a])}, states[a]));
  trace::Manifest manifest = manifest_of(causal);
  manifest.level = trace::Level::kTables;
  manifest.analyses = analysis::describe_kept(names, {});
  manifest.probe = nlohmann::ordered_json({{"observe", observed}}).dump();
  const TempFolder kept;
  auto writer = trace::TraceWriter::create(kept.path(), manifest);
  writer.write(sample);
  writer.finish();
  const auto written = nlohmann::ordered_json::parse(read_file(kept / "manifest.json"));
  return {written.dump(), read_file(kept / (std::string("samples/") + kId + ".safetensors"))};
}

void change_state(PackedTrace& trace, std::minstd_rand& random) {
  constexpr size_t kHeader = 9;  // of a state: version and sum
  std::uint64_t size = 0;
  if (trace.sample.size() < 8) return;
  std::memcpy(&size, trace.sample.data(), 8);
  if (size > trace.sample.size() - 8) return;
  const auto header = nlohmann::json::parse(trace.sample.substr(8, size), nullptr, false);
  if (!header.is_object()) return;
  std::vector<std::pair<size_t, size_t>> states;  // begin, bytes
  for (const auto& [name, entry] : header.items()) {
    if (!name.starts_with("state_") || !entry.is_object() || !entry.contains("data_offsets")) continue;
    const auto& offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned())
      continue;
    const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
    if (begin + kHeader < end && end <= trace.sample.size() - 8 - size)
      states.emplace_back(8 + size + begin, end - begin);
  }
  if (states.empty()) return;
  const auto [begin, bytes] = states[random() % states.size()];
  constexpr unsigned kBytes[] = {0, 1, 2, 3, 0x7f, 0x80, 0xff, 0xfe, 0x40};
  for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
    // Most near the beginning, where lengths and forms are.
    const size_t fields = bytes - kHeader, most = random() % 2 == 0 ? std::min<size_t>(fields, 64) : fields;
    trace.sample[begin + kHeader + random() % most] =
        static_cast<char>(random() % 2 == 0 ? kBytes[random() % std::size(kBytes)] : random());
  }
  const auto* fields = reinterpret_cast<const std::uint8_t*>(trace.sample.data()) + begin + kHeader;
  const auto sealed = analysis::StateArchive::sealed({fields, bytes - kHeader});
  std::copy(sealed.begin(), sealed.end(), trace.sample.begin() + static_cast<std::ptrdiff_t>(begin));
}

void compute_everything(const fs::path& folder) {
  attempt([&] { read_all(trace::TraceReader::open(folder, trace::Integrity::kSizeOnly), folder / "x.npz"); });
  for (const auto& kind : analysis::analysis_kinds()) {
    attempt([&] {
      analysis::RunOptions options;
      options.trust = true;
      options.analysis.bootstrap.replicates = 10;
      analysis::run_analyses({std::string(kind.producer.name)}, {{folder, "trace"}}, options);
    });
  }
}

}  // namespace buoy::testing
