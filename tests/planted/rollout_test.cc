// Rollouts against whole attention matrices, under every mask and for both offsets of predictions: the
// published one by the authors' definition, ours by rows that write.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "planted/masked_attention.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

using Square = std::vector<std::vector<double>>;

// Queries and keys of a region.
struct Region {
  std::string name;
  std::vector<std::int64_t> queries, keys;
};

Square normalised(Square m) {
  for (auto& row : m) {
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& x : row) x = sum > 0 ? x / sum : 0;
  }
  return m;
}

// docs/measurements.md 8, from a matrix [tokens, tokens] for each layer, shallowest first.
Square rolled_out(const std::vector<Square>& layers, const std::vector<Region>& regions) {
  const size_t R = regions.size();
  Square out(R, std::vector<double>(R, 0.0));
  for (size_t a = 0; a < R; ++a) out[a][a] = 1;
  for (const auto& attention : layers) {
    Square mass(R, std::vector<double>(R, 0.0));
    for (size_t a = 0; a < R; ++a) {
      for (size_t b = 0; b < R; ++b) {
        for (const auto i : regions[a].queries) {
          for (const auto j : regions[b].keys)
            mass[a][b] += attention[static_cast<size_t>(i)][static_cast<size_t>(j)];
        }
      }
    }
    mass = normalised(mass);
    for (size_t a = 0; a < R; ++a) mass[a][a] += 1;
    mass = normalised(mass);
    Square next(R, std::vector<double>(R, 0.0));
    for (size_t a = 0; a < R; ++a) {
      for (size_t c = 0; c < R; ++c) {
        for (size_t b = 0; b < R; ++b) next[a][b] += mass[a][c] * out[c][b];
      }
    }
    out = next;
  }
  return normalised(out);
}

class RolloutOfMatrices : public ::testing::TestWithParam<Arm> {
 protected:
  MaskedAttention given(std::int64_t tokens) const {
    MaskedAttention out;
    out.arm = GetParam();
    out.samples = 1;
    out.layers = 3;
    const std::int64_t part = tokens / 16;
    out.pieces = {{"bos", 1},
                  {"template", 2},
                  {"query", 3 * part - 3},
                  {"document 1", 4 * part},
                  {"document 2", 3 * part},
                  {"template", part},
                  {"answer", 5 * part}};
    out.padding = 2 * part;
    out.gold = "document 2";
    out.weights = [](const AttentionRow& at, std::span<double> weights) {
      const auto seed =
          static_cast<std::uint64_t>(((at.step * 8 + at.layer) * 8 + at.head) * 4096 + at.query);
      Draws draws(seed + 1);
      for (double& weight : weights) weight = std::pow(draws.flat(), 3.0) + 1e-6;
    };
    return out;
  }

  // Head means of the forward over the finished row; `even`: of even attention.
  static std::vector<Square> matrices(const MaskedAttention& given, bool even) {
    const std::int64_t T = given.tokens(), last = given.arm.masked_diffusion ? given.steps : 0;
    std::vector<Square> layers(
        static_cast<size_t>(given.layers),
        Square(static_cast<size_t>(T), std::vector<double>(static_cast<size_t>(T), 0.0)));
    for (std::int64_t l = 0; l < given.layers; ++l) {
      for (std::int64_t i = 0; i < T; ++i) {
        auto& to = layers[static_cast<size_t>(l)][static_cast<size_t>(i)];
        for (std::int64_t h = 0; h < given.heads; ++h) {
          auto row = given.row({0, last, l, h, i, true});
          if (even) std::fill(row.begin(), row.end(), 1.0 / static_cast<double>(row.size()));
          for (size_t j = 0; j < row.size(); ++j) to[j] += row[j] / static_cast<double>(given.heads);
        }
      }
    }
    return layers;
  }

  // The authors': a row belongs where it stands, the answer is all slots, the template is nowhere.
  static std::vector<Region> published_regions(const MaskedAttention& given) {
    std::vector<Region> regions;
    std::int64_t at = 0;
    for (const auto& [name, length] : given.pieces) {
      if (name != "template") {
        Region region{name, std::vector<std::int64_t>(static_cast<size_t>(length)), {}};
        std::iota(region.queries.begin(), region.queries.end(), at);
        region.keys = region.queries;
        regions.push_back(region);
      }
      at += length;
    }
    return regions;
  }

  // Ours: padding and template are regions, a query belongs to what it writes.
  static std::vector<Region> own_regions(const MaskedAttention& given) {
    const std::int64_t T = given.tokens(), prompt = given.prompt(), end = T - given.padding;
    std::vector<std::string> of_token;
    for (const auto& [name, length] : given.pieces)
      of_token.insert(of_token.end(), static_cast<size_t>(length), name);
    for (std::int64_t p = end; p < T; ++p) of_token[static_cast<size_t>(p)] = "padding";
    std::vector<Region> regions;
    for (const char* name : {"bos", "template", "query", "document 1", "document 2", "answer", "padding"}) {
      Region region{name, {}, {}};
      for (std::int64_t i = 0; i < T; ++i) {
        const std::int64_t written = i + given.arm.offset;
        const std::string row = written < prompt ? of_token[static_cast<size_t>(i)]
                                : written < T    ? of_token[static_cast<size_t>(written)]
                                                 : "padding";
        if (row == name) region.queries.push_back(i);
        if (of_token[static_cast<size_t>(i)] == name) region.keys.push_back(i);
      }
      regions.push_back(region);
    }
    return regions;
  }

  static void expect_rollout(const MaskedAttention& given, const std::vector<Table>& tables,
                             const std::string& forward, const std::vector<Region>& regions) {
    const Table rows = rows_where(table_of(tables, "flow_rollout"),
                                  {{"forward", forward}, {"pooling", "sum"}, {"all_layers", "yes"}});
    EXPECT_EQ(rows.rows.size(), regions.size() * regions.size()) << forward;
    const Square flow = rolled_out(matrices(given, false), regions);
    const Square even = rolled_out(matrices(given, true), regions);
    for (size_t a = 0; a < regions.size(); ++a) {
      for (size_t b = 0; b < regions.size(); ++b) {
        const std::map<std::string, std::string> cell = {{"from", regions[a].name}, {"to", regions[b].name}};
        EXPECT_NEAR(number_at(rows, cell, "flow"), flow[a][b], 2e-6) << forward << regions[a].name;
        EXPECT_NEAR(number_at(rows, cell, "uniform"), even[a][b], 1e-9) << forward << regions[a].name;
      }
    }
  }
};

TEST_P(RolloutOfMatrices, ThePublishedOneIsThatOfTheAuthorsAndOursGoesByWhatRowsWrite) {
  for (const std::int64_t tokens : {64, 256}) {
    const MaskedAttention made = given(tokens);
    const auto tables = made.trace().analyze("flow");
    expect_rollout(made, tables, "published", published_regions(made));
    expect_rollout(made, tables, "final_row", own_regions(made));
    EXPECT_EQ(number_at(table_of(tables, "flow_samples"),
                        {{"what",
                          "no published rollout: no forward over the final row, or rows are shifted "
                          "and there is no row_mass"}},
                        "samples"),
              0);
  }
}

INSTANTIATE_TEST_SUITE_P(Arms, RolloutOfMatrices, ::testing::ValuesIn(kArms),
                         [](const auto& info) { return std::string(info.param.label); });

}  // namespace
}  // namespace buoy::testing
