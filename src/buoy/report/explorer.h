#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace buoy::report {

// One sample of a trace to look around in. Its attention is asked for one forward and layer at a time.
struct ExploredSample {
  std::string trace, id;  // label of the trace, id of the sample
  bool causal = false, masked_diffusion = false;
  std::int64_t prefix = 0;  // causal: positions that all see
  // Of a model that decodes blocks, [steps]: the first row that ran, where rows and keys end, length and
  // origin of the blocks; empty otherwise.
  std::vector<std::array<std::int64_t, 4>> reach = {};
  bool last_is_final_row = false;  // the last forward is no step but a look at the finished row
  bool has_heads = true;           // false: only the mean over heads was kept
  std::int64_t model_layers = 0, heads = 0, tokens = 0, prompt_length = 0;
  std::vector<std::int32_t> steps, layers;    // numbers of the observed forwards and layers
  std::vector<std::string> token_texts;       // [tokens], empty when the trace has none
  std::vector<std::int32_t> revealed_at;      // [tokens], -1: prompt or never
  std::vector<std::int32_t> masked_forwards;  // [tokens]: how many forwards, the first ones, saw it masked
  std::vector<std::string> region_names;      // empty when the trace has none
  std::vector<std::int32_t> region_of_token;  // [tokens], -1: none; empty when the trace has none
  std::vector<std::uint8_t> evidence;         // [tokens], empty when the trace has none
  std::function<std::vector<double>(std::int64_t step, std::int64_t layer)>
      received;  // by index; [1 + heads, tokens]: the mean over the heads, then every head, if there are
  std::vector<std::int32_t> row_positions;  // queries that write the answer; empty when they were not kept
  std::int64_t prediction_offset = 0;       // a query writes the position this far behind it
  std::function<std::vector<double>(std::int64_t step, std::int64_t layer)> rows =
      {};  // by index; [row_positions, tokens]: their attention, mean over the heads
};

// What is drawn of one trace: data for the page's script, or why there is none.
struct ExplorerPanel {
  std::string trace;
  std::string data;                    // a JSON object, safe inside <script>
  std::string lacking;                 // a sentence; then data is empty
  bool folded = false;                 // opened by a click only
  std::vector<std::string> more = {};  // further samples, as `data`
};

// Bytes of attention of the first sample of a panel, and of every further one, before base64.
inline constexpr std::int64_t kExplorerBudget = 3 << 19, kFurtherBudget = kExplorerBudget / 3;
// Beside it, of every sample: rows of the queries that write its answer.
inline constexpr std::int64_t kQueryBudget = 1 << 18;

// Head means of all layers and steps come first, single heads at as many steps as the budget has left; what
// was left out is said in the panel.
ExplorerPanel explorer_panel(const ExploredSample& sample, std::int64_t budget = kExplorerBudget);
// One more sample of the same trace to choose, with less of it; nothing where a row of it does not fit.
void add_sample(ExplorerPanel& panel, const ExploredSample& sample);
// Bytes of the head means of a sample, all forwards and layers.
std::int64_t bytes_of_means(const ExploredSample& sample);

// The section "Explore"; empty without panels.
std::string explorer_html(std::span<const ExplorerPanel> panels);
// The same as a page of its own that needs nothing else: for notebooks. With `difference` it begins with what
// the last panel is subtracted from.
std::string explorer_page(std::span<const ExplorerPanel> panels, bool difference = false);

}  // namespace buoy::report
