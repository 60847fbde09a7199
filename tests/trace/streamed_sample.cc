#include "trace/streamed_sample.h"

#include <cmath>
#include <set>

#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

using trace::Array;
using trace::DataType;

constexpr std::int64_t kSteps = 3, kLayers = 2, kGroups = 2, kHeads = 4, kTop = 3, kRows = 2;

std::vector<float> floats(std::int64_t count, float scale) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = scale * std::fabs(std::sin(static_cast<float>(i) + scale));
  return values;
}

// Arrays that a recorder puts while the model runs; the rest is small.
std::int64_t streamed_cells(const Array& array) {
  if (array.name.find("_layer") != std::string::npos) return 1;
  const bool stack = array.shape.size() > 3;
  return stack ? kSteps * kLayers : array.name == trace::kTokensByStep ? kSteps : 0;
}

}  // namespace

trace::Sample stacked_sample(const std::string& id, std::int64_t tokens) {
  trace::Sample sample{id, {}, {}};
  auto& arrays = sample.arrays;
  const auto numbers = [&](std::int64_t count, std::int32_t modulus) {
    std::vector<std::int32_t> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i) % modulus;
    return values;
  };
  arrays.push_back(
      trace::byte_array(trace::kRegionOfToken, {tokens},
                        std::vector<std::uint8_t>(static_cast<size_t>(tokens), trace::kNoRegion)));
  arrays.push_back(trace::integer_array(trace::kTokens, {tokens}, numbers(tokens, 31)));
  arrays.push_back(trace::integer_array(trace::kSteps, {kSteps}, numbers(kSteps, 31)));
  arrays.push_back(trace::integer_array(trace::kLayers, {kLayers}, numbers(kLayers, 31)));
  arrays.push_back(
      trace::integer_array(trace::kTokensByStep, {kSteps, tokens}, numbers(kSteps * tokens, 29)));
  arrays.push_back(trace::integer_array(trace::kGroupSizes, {kSteps, kGroups}, numbers(kSteps * kGroups, 2)));
  arrays.push_back(trace::integer_array(trace::kRowPositions, {kRows}, numbers(kRows, 31)));
  arrays.push_back(trace::float_array(trace::kEntropy, {kSteps, kLayers, kHeads, tokens},
                                      floats(kSteps * kLayers * kHeads * tokens, 3)));
  arrays.push_back(trace::float_array(trace::kReceived, {kSteps, kLayers, kGroups, kHeads, tokens},
                                      floats(kSteps * kLayers * kGroups * kHeads * tokens, 7)));
  const std::int64_t top = kSteps * kLayers * kRows * kHeads * kTop;
  arrays.push_back(
      trace::float_array(trace::kTopWeights, {kSteps, kLayers, kRows, kHeads, kTop}, floats(top, 1)));
  arrays.push_back(
      trace::integer_array(trace::kTopKeys, {kSteps, kLayers, kRows, kHeads, kTop}, numbers(top, 5)));
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    arrays.push_back(
        trace::float_array(trace::keys_name(1, layer), {tokens, 2, 4}, floats(tokens * 2 * 4, 11)));
  }
  arrays.push_back(trace::byte_array(trace::kSpecial, {tokens},
                                     std::vector<std::uint8_t>(static_cast<size_t>(tokens), 1)));
  std::vector<std::string> texts(static_cast<size_t>(tokens), "word");
  sample.metadata = {{"question", "Where?"},
                     {"prompt_length", "3"},
                     {"token_texts", trace::format_text_list(texts)},
                     {"answer_text", "here"},
                     {"group_names", R"(["masked","unmasked"])"}};
  return sample;
}

std::vector<Cell> cells_of(const trace::Sample& sample) {
  std::vector<Cell> cells;
  for (const Array& array : sample.arrays) {
    for (std::int64_t cell = 0; cell < streamed_cells(array); ++cell) cells.push_back({&array, cell});
  }
  return cells;
}

void put(trace::SampleFile& file, const Cell& cell) {
  const Array& array = *cell.array;
  const auto each = array.bytes.size() / static_cast<size_t>(streamed_cells(array));
  const std::byte* from = array.bytes.data() + each * static_cast<size_t>(cell.number);
  if (array.dtype == DataType::kF32) {
    file.put(array.name, cell.number, std::span(reinterpret_cast<const float*>(from), each / 4));
  } else {
    file.put(array.name, cell.number, std::span(reinterpret_cast<const std::int32_t*>(from), each / 4));
  }
}

trace::SamplePlan streamed_plan(const trace::Sample& sample, trace::Storage storage) {
  trace::SamplePlan plan = trace::plan_of(sample, storage);
  for (size_t i = 0; i < plan.arrays.size(); ++i) {
    if (const std::int64_t cells = streamed_cells(sample.arrays[i]); cells > 0) plan.arrays[i].cells = cells;
  }
  plan.texts.erase("token_texts");
  plan.texts.erase("answer_text");
  return plan;
}

std::vector<Array> small_arrays(const trace::Sample& sample) {
  std::vector<Array> small;
  for (const Array& array : sample.arrays) {
    if (streamed_cells(array) == 0) small.push_back(array);
  }
  return small;
}

}  // namespace buoy::testing
