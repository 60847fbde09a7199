// What analyses keep of a sample, written and read again.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "analysis/everything.h"
#include "analysis/large_sample.h"
#include "buoy/analysis/core/run.h"
#include "buoy/analysis/core/state_archive.h"
#include "buoy/base/error.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/schema.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::analysis {
namespace {

using testing::fails_with;
using testing::PackedTrace;

using Bytes = std::vector<std::uint8_t>;

// Everything an archive knows.
struct Fields {
  bool flag = false;
  double number = 0;
  std::int64_t integer = 0;
  std::vector<double> numbers = std::vector<double>(5), counts = std::vector<double>(6),
                      singles = std::vector<double>(2);
  std::vector<float> floats = std::vector<float>(3);
  std::vector<std::int32_t> positions;

  void state(StateArchive& archive) {
    archive.flag(flag);
    archive.number(number);
    archive.number(integer, -5, 1000);
    archive.numbers(numbers);
    archive.counts(counts);
    archive.singles(singles);
    archive.numbers(floats);
    archive.length(positions, 10);
    archive.integers(positions, 0, 99);
  }
};

Fields filled() {
  Fields fields;
  fields.flag = true;
  fields.number = 0.1;
  fields.integer = -3;
  fields.numbers = {0.5, 0.5, 0.5, std::numeric_limits<double>::infinity(), -0.0};
  fields.counts = {7, 7, 7, 7, 0, 9007199254740992.0};
  fields.singles = {0.25, std::nan("")};
  fields.floats = {1, 2, 3};
  fields.positions = {4, 99};
  return fields;
}

Bytes written(Fields fields) {
  StateArchive archive;
  fields.state(archive);
  return archive.bytes();
}

Fields read(const Bytes& bytes) {
  Fields fields;
  StateArchive archive(bytes, "the state");
  fields.state(archive);
  archive.end();
  return fields;
}

TEST(State, GivesBackWhatWasWritten) {
  const Fields a = filled(), b = read(written(a));
  EXPECT_EQ(b.flag, a.flag);
  EXPECT_EQ(b.number, a.number);
  EXPECT_EQ(b.integer, a.integer);
  EXPECT_EQ(b.numbers, a.numbers);
  EXPECT_TRUE(std::signbit(b.numbers[4]));
  EXPECT_EQ(b.counts, a.counts);
  EXPECT_EQ(b.singles[0], a.singles[0]);
  EXPECT_TRUE(std::isnan(b.singles[1]));
  EXPECT_EQ(b.floats, a.floats);
  EXPECT_EQ(b.positions, a.positions);
  EXPECT_EQ(written(b), written(a));
}

TEST(State, ThatWasCutOrChangedIsRefused) {
  const Bytes whole = written(filled());
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(fails_with<InputError>([&] { read(cut); }, {"the state", "expected"})) << size;
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes changed = whole;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_TRUE(fails_with<InputError>([&] { read(changed); }, {"the state", "expected"})) << bit;
  }
}

// Sums that are right around fields that are not.
TEST(State, WithFieldsThatCannotBeIsRefused) {
  const Bytes whole = written(filled());
  const Bytes fields(whole.begin() + 9, whole.end());
  const auto refused = [&](const Bytes& bad, const std::string& expected) {
    return fails_with<InputError>([&] { read(StateArchive::sealed(bad)); }, {"the state", expected});
  };
  Bytes longer = fields, flag = fields, integer = fields;
  longer.push_back(0);
  EXPECT_TRUE(refused(longer, "no more fields"));
  flag[0] = 4;  // 2
  EXPECT_TRUE(refused(flag, "a number from 0 to 1"));
  integer[9] = 0x7f;  // -64
  EXPECT_TRUE(refused(integer, "a number from -5 to 1000"));
  for (size_t size = 0; size < fields.size(); ++size)
    EXPECT_TRUE(
        refused(Bytes(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(size)), "expected"));
  Fields many = filled();
  many.positions.assign(11, 1);
  EXPECT_TRUE(fails_with<InputError>([&] { read(written(many)); }, {"a number from 0 to 10", "11"}));
  many.positions = {100};
  EXPECT_TRUE(fails_with<InputError>([&] { read(written(many)); }, {"a number from 0 to 99", "100"}));
  Fields few = filled();
  few.counts.pop_back();
  EXPECT_THROW(read(written(few)), InputError);
}

std::map<std::string, std::string> tables_of(const PackedTrace& trace) {
  const testing::TempFolder folder;
  trace.write(folder.path());
  std::vector<std::string> names;
  for (const auto& kind : analysis_kinds()) names.emplace_back(kind.producer.name);
  std::map<std::string, std::string> out;
  for (const auto& analysis : run_analyses(names, {{folder.path(), "t"}}, {}).analyses) {
    for (const auto& table : analysis.tables) out[table.name] = to_csv(table);
  }
  return out;
}

TEST(States, LeadToTheTablesThatArraysLeadTo) {
  for (const bool causal : {false, true}) {
    const auto full = tables_of(testing::small_packed_trace(causal));
    const auto kept = tables_of(testing::small_packed_states(causal));
    ASSERT_EQ(kept.size(), full.size());
    for (const auto& [name, text] : full) EXPECT_EQ(kept.at(name), text) << name << ", " << causal;
  }
}

// Any change of the fields, with the right sums around it: nothing but errors comes out, and no crash.
TEST(States, ThatAreChangedGiveErrorsOrTables) {
  for (const bool causal : {false, true}) {
    const PackedTrace whole = testing::small_packed_states(causal);
    std::minstd_rand random(causal ? 7 : 8);
    int refused = 0;
    for (int round = 0; round < 300; ++round) {
      PackedTrace changed = whole;
      testing::change_state(changed, random);
      try {
        tables_of(changed);
      } catch (const InternalError& bug) {
        FAIL() << bug.what();
      } catch (const Error& error) {
        ++refused;
        EXPECT_NE(std::string(error.what()).find("state_"), std::string::npos) << error.what();
      }
    }
    EXPECT_GT(refused, 30);
    EXPECT_LT(refused, 300);
  }
}

// LLaDA-8B asked 1,000 tokens for 32 more in 32 steps: all analyses that run unasked together, and each that
// is asked for. Steps cost little (qk keeps a few numbers of each), so that few do here.
TEST(States, OfALargeModelAreSmall) {
  const testing::LargeSample sample({.layers = 32, .heads = 32, .tokens = 1032, .answer = 32, .steps = 3});
  std::uint64_t all = 0;
  for (const auto& kind : analysis_kinds()) {
    const auto bytes = sample.state_of(kind, 1);  // the second sample is drawn
    RecordProperty(std::string(kind.producer.name), static_cast<int>(bytes));
    std::printf("%s: %llu bytes\n", std::string(kind.producer.name).c_str(),
                static_cast<unsigned long long>(bytes));
    if (kind.on_request) {
      EXPECT_LT(bytes, 250'000u) << kind.producer.name;
    } else {
      all += bytes;
    }
  }
  const std::uint64_t more_steps = 29 * 32 * 6 * sizeof(double), frame = 220'000;
  EXPECT_LT(all + more_steps + frame, 2'000'000u);
}

}  // namespace
}  // namespace buoy::analysis
