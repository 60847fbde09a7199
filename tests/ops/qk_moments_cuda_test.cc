// QK moments on the GPU against the double reference on the same bf16 numbers.

#include <gtest/gtest.h>

#include "buoy/ops/moments/qk_moments.h"
#include "buoy/ops/moments/qk_moments_cuda.h"
#include "buoy/ops/pointwise/rope.h"
#include "ops/attention_cuda_data.h"

namespace buoy {
namespace {

using testing::AttentionCase;
using testing::AttentionData;
using testing::bf16_data;
using testing::DeviceArray;
using testing::ErrorRatio;
using testing::PackedOnDevice;

class CudaMoments : public ::testing::TestWithParam<AttentionCase> {
 protected:
  void SetUp() override {
    if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  }
};

// Angles of all positions of a case.
ops::RopeTable angles_of(const AttentionCase& c) {
  ops::RopeTable table(ops::rope_frequencies(10000.0, c.head_dim, std::nullopt));
  table.grow(c.first_position + std::max(c.query_rows, c.key_rows));
  return table;
}
// Heads that Buoy can rotate on the GPU.
bool can_turn(const AttentionCase& c) {
  return c.head_dim % 8 == 0;
}

struct QkColumns {
  std::vector<float> dot, cosine, product, self;
};

// By qk_moments_cuda, or as part of the second or of both passes of attention.
enum class Formed { kAlone, kInSecondPass, kInBothPasses };

// Everything that is formed for one case; `chosen` empty: with all queries.
struct MomentResults {
  QkColumns after, before;
  std::vector<float> query_norm, key_norm, value_norm;
};

MomentResults moments_on_gpu(const Stream& stream, const AttentionData& data,
                             const std::vector<std::uint8_t>& chosen, Formed formed = Formed::kAlone) {
  const AttentionCase& c = data.c;
  PackedOnDevice device(stream, {data}, 0);
  const auto& s = device.sequences()[0];
  const auto columns = static_cast<size_t>(c.heads * c.key_rows),
             of_keys = static_cast<size_t>(c.kv_heads * c.key_rows);
  std::vector<std::uint8_t> use(static_cast<size_t>(device.rows()), 0);
  std::copy(chosen.begin(), chosen.end(), use.begin() + s.query_start);
  DeviceArray<std::uint8_t> device_use(stream, use);
  std::vector<DeviceArray<float>> results;
  for (int i = 0; i < 8; ++i) results.emplace_back(stream, columns);
  DeviceArray<float> query_norm(stream, static_cast<size_t>(c.heads * device.rows())),
      key_norm(stream, of_keys), value_norm(stream, of_keys);
  ops::DeviceQkMoments wanted;
  wanted.inputs = device.inputs();
  wanted.use_row = chosen.empty() ? nullptr : device_use.data();
  wanted.after = {results[0].data(), results[1].data(), results[2].data(), results[3].data()};
  wanted.query_norm = query_norm.data();
  wanted.key_norm = key_norm.data();
  wanted.value_norm = value_norm.data();
  const ops::RopeTable table = angles_of(c);
  const auto angles =
      static_cast<size_t>((c.first_position + std::max(c.query_rows, c.key_rows)) * table.pairs());
  DeviceArray<float> cosines(stream, std::vector<float>(table.cosines(0), table.cosines(0) + angles)),
      sines(stream, std::vector<float>(table.sines(0), table.sines(0) + angles));
  if (can_turn(c)) {
    wanted.before = {results[4].data(), results[5].data(), results[6].data(), results[7].data()};
    wanted.rope = {cosines.data(), sines.data(), table.pairs()};
  }
  if (formed != Formed::kAlone) {
    DeviceArray<float> sums(stream, columns);
    device.attend(data.c.heads % 2 == 0, nullptr, formed == Formed::kInBothPasses ? &wanted : nullptr);
    ops::attention_statistics_cuda(device.plan(), device.inputs(),
                                   {.received = sums.data(), .moments = &wanted}, stream);
    stream.synchronize();
  } else {
    ops::qk_moments_cuda(device.plan(), wanted, stream);
  }
  MomentResults out;
  out.after = {results[0].host(), results[1].host(), results[2].host(), results[3].host()};
  out.before = {results[4].host(), results[5].host(), results[6].host(), results[7].host()};
  out.key_norm = key_norm.host();
  out.value_norm = value_norm.host();
  const auto norms = query_norm.host();
  for (std::int64_t h = 0; h < c.heads; ++h) {
    const auto first = norms.begin() + h * device.rows() + s.query_start;
    out.query_norm.insert(out.query_norm.end(), first, first + c.query_rows);
  }
  return out;
}

// The case with queries and keys turned back.
AttentionData turned_back(const AttentionData& data) {
  AttentionData out = data;
  const AttentionCase& c = data.c;
  auto frequencies = ops::rope_frequencies(10000.0, c.head_dim, std::nullopt);
  for (double& frequency : frequencies) frequency = -frequency;
  const auto turn = [&](std::vector<float>& states, std::int64_t rows, std::int64_t heads,
                        std::int64_t first) {
    std::vector<std::int32_t> positions;
    for (std::int64_t i = 0; i < rows; ++i) positions.push_back(static_cast<std::int32_t>(first + i));
    std::vector<double> exact(states.size());
    ops::rope_reference(frequencies, {states.data(), heads, c.head_dim, positions}, exact.data());
    states.assign(exact.begin(), exact.end());
  };
  turn(out.queries, c.query_rows, c.heads, c.first_position);
  turn(out.keys, c.key_rows, c.kv_heads, 0);
  return out;
}

// Against double; where a mask cuts through a chunk, single rows are turned back to bf16.
void expect_before(const AttentionData& data, const QkColumns& ours, const QkColumns& after,
                   const std::uint8_t* use_row) {
  const AttentionData turned = turned_back(data);
  const AttentionCase& c = data.c;
  const auto columns = static_cast<size_t>(c.heads * c.key_rows);
  testing::AttentionResult unused;
  const auto sequence = turned.sequence(unused);
  ops::QkMoments wanted;
  wanted.use_row = use_row;
  std::vector<double> dot(columns), cosine(columns), product(columns);
  ops::qk_moments_reference(c.shape(), sequence, wanted, {dot.data(), cosine.data(), product.data()});
  const double tolerance = c.mask.kind == ops::MaskKind::kBidirectional ? 1e-5 : 1.0 / 256;
  for (size_t i = 0; i < columns; ++i) {
    ASSERT_NEAR(ours.dot[i], dot[i], tolerance * product[i] + 1e-30) << "column " << i;
    ASSERT_NEAR(ours.cosine[i], cosine[i], tolerance) << "column " << i;
  }
  EXPECT_EQ(ours.product, after.product);
  EXPECT_EQ(ours.self, after.self);
}

float plain_dot(const float* a, const float* b, std::int64_t size) {
  float sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

// All pairs in plain float32 loops.
struct PlainMoments {
  std::vector<float> dot, cosine, product;

  PlainMoments(const AttentionData& data, const std::uint8_t* use_row) {
    const AttentionCase& c = data.c;
    for (std::int64_t head = 0; head < c.heads; ++head) {
      for (std::int64_t j = 0; j < c.key_rows; ++j) {
        const float* k = data.keys.data() + (j * c.kv_heads + head / (c.heads / c.kv_heads)) * c.head_dim;
        float dots = 0, cosines = 0, products = 0, count = 0;
        for (std::int64_t row = 0; row < c.query_rows; ++row) {
          if (ops::visible_end(c.mask, c.prefix, c.first_position + row, c.key_rows, c.grid_origin) <= j)
            continue;
          if (use_row != nullptr && use_row[row] == 0) continue;
          const float* q = data.queries.data() + (row * c.heads + head) * c.head_dim;
          const float qk = plain_dot(q, k, c.head_dim);
          const float norms = std::sqrt(plain_dot(q, q, c.head_dim)) * std::sqrt(plain_dot(k, k, c.head_dim));
          dots += qk;
          cosines += norms > 0 ? qk / norms : 0;
          products += norms;
          count += 1;
        }
        dot.push_back(count > 0 ? dots / count : 0);
        cosine.push_back(count > 0 ? cosines / count : 0);
        product.push_back(count > 0 ? products / count : 0);
      }
    }
  }
};

TEST_P(CudaMoments, ErrAtMostTwiceAsMuchAsPlainLoops) {
  const Stream stream;
  ErrorRatio dot_errors, cosine_errors, product_errors;
  for (std::uint64_t seed = 1; !dot_errors.enough(); seed += 10) {
    const AttentionData data = bf16_data(GetParam(), seed);
    const AttentionCase& c = data.c;
    const auto columns = static_cast<size_t>(c.heads * c.key_rows),
               of_keys = static_cast<size_t>(c.kv_heads * c.key_rows);
    std::vector<std::uint8_t> chosen(static_cast<size_t>(c.query_rows));
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i % 5 != 2;
    const MomentResults ours = moments_on_gpu(stream, data, {}), some = moments_on_gpu(stream, data, chosen),
                        second = moments_on_gpu(stream, data, {}, Formed::kInSecondPass),
                        both = moments_on_gpu(stream, data, {}, Formed::kInBothPasses);
    testing::AttentionResult unused;
    const auto sequence = data.sequence(unused);
    for (const MomentResults* results : {&ours, &some, &second, &both}) {
      ops::QkMoments wanted;
      wanted.use_row = results == &some ? chosen.data() : nullptr;
      std::vector<double> dot(columns), cosine(columns), product(columns);
      ops::qk_moments_reference(c.shape(), sequence, wanted, {dot.data(), cosine.data(), product.data()});
      const PlainMoments plain(data, wanted.use_row);
      dot_errors.add(results->after.dot, plain.dot, dot);
      cosine_errors.add(results->after.cosine, plain.cosine, cosine);
      product_errors.add(results->after.product, plain.product, product);
      if (can_turn(c)) expect_before(data, results->before, results->after, wanted.use_row);
    }
    // The rest is on the CPU in double.
    ThreadPool threads(1);
    std::vector<float> self(columns), query_norm(ours.query_norm.size()), key_norm(of_keys),
        value_norm(of_keys);
    ops::QkMoments on_cpu;
    on_cpu.self_dot = self.data();
    on_cpu.query_norm = query_norm.data();
    on_cpu.key_norm = key_norm.data();
    on_cpu.value_norm = value_norm.data();
    ops::qk_moments({threads}, c.shape(), sequence, on_cpu);
    const double root = std::sqrt(static_cast<double>(c.head_dim)),
                 score = testing::score_tolerance(data) * root;
    for (size_t i = 0; i < columns; ++i) {
      ASSERT_NEAR(ours.after.self[i], self[i], score);
      ASSERT_NEAR(both.after.self[i], self[i], score);
    }
    const auto expect_norms = [&](const std::vector<float>& found, const std::vector<float>& exact) {
      ASSERT_EQ(found.size(), exact.size());
      for (size_t i = 0; i < exact.size(); ++i)
        ASSERT_NEAR(found[i], exact[i], testing::kEpsilon * (4 + root) * exact[i]);
    };
    for (const auto* found : {&ours, &both}) {
      expect_norms(found->query_norm, query_norm);
      expect_norms(found->key_norm, key_norm);
      expect_norms(found->value_norm, value_norm);
    }
  }
  dot_errors.expect_at_most_twice("dot");
  cosine_errors.expect_at_most_twice("cosine");
  product_errors.expect_at_most_twice("norm_product");
}

// Sequences of several tiles and less than one, side by side.
TEST(PackedMomentsCuda, AreTheSameInThePassesOfAttention) {
  if (!testing::has_gpu()) GTEST_SKIP() << "no GPU";
  const Stream stream;
  for (const std::int64_t dim : {64, 128}) {
    std::vector<AttentionData> parts;
    for (const std::int64_t rows : {300, 5, 257, 512}) {
      AttentionCase c;
      c.query_rows = c.key_rows = rows;
      c.heads = 4;
      c.kv_heads = 2;
      c.head_dim = dim;
      c.mask = {ops::MaskKind::kBidirectional, 0};
      parts.push_back(bf16_data(c, static_cast<std::uint64_t>(rows)));
    }
    PackedOnDevice device(stream, parts, 0);
    const auto count = static_cast<size_t>(4 * device.columns());
    const ops::RopeTable table = angles_of(parts.back().c);
    const auto angles = static_cast<size_t>(512 * table.pairs());
    DeviceArray<float> cosines(stream, std::vector<float>(table.cosines(0), table.cosines(0) + angles)),
        sines(stream, std::vector<float>(table.sines(0), table.sines(0) + angles)), received(stream, count);
    std::vector<std::vector<float>> found;
    for (const bool alone : {true, false}) {
      std::vector<DeviceArray<float>> results;
      for (int i = 0; i < 8; ++i) results.emplace_back(stream, count);
      ops::DeviceQkMoments wanted;
      wanted.inputs = device.inputs();
      wanted.after = {results[0].data(), results[1].data(), results[2].data(), results[3].data()};
      wanted.before = {results[4].data(), results[5].data(), results[6].data(), results[7].data()};
      wanted.rope = {cosines.data(), sines.data(), table.pairs()};
      if (alone) {
        ops::qk_moments_cuda(device.plan(), wanted, stream);
      } else {
        device.attend(true, nullptr, &wanted);
        ops::attention_statistics_cuda(device.plan(), device.inputs(),
                                       {.received = received.data(), .moments = &wanted}, stream);
      }
      for (const auto& one : results) found.push_back(one.host());
    }
    for (size_t n = 0; n < 8; ++n) {
      for (size_t i = 0; i < count; ++i) {
        const double size = n % 4 == 1 ? 1 : found[2][i];  // a cosine, or some product of norms
        ASSERT_NEAR(found[8 + n][i], found[n][i], 1e-5 * size) << "moment " << n << ", column " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CudaMoments, ::testing::ValuesIn(testing::cuda_statistics_cases()),
                         testing::name_of_attention_case);

}  // namespace
}  // namespace buoy
