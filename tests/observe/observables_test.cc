// The table of observables and the schema of traces say the same.

#include "buoy/observe/observables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace buoy::observe {
namespace {

TEST(Observables, EveryArrayThatIsObservedHasOneSourceAndAnObservable) {
  std::set<std::string_view> names, filled;
  for (const auto& observable : observables())
    EXPECT_TRUE(names.insert(observable.name).second) << observable.name;
  for (const auto& schema : trace::array_schema()) {
    const auto sources = std::count_if(array_sources().begin(), array_sources().end(),
                                       [&](const auto& source) { return source.array == schema.name; });
    EXPECT_EQ(sources, schema.observe.empty() ? 0 : 1) << schema.name;
    if (schema.observe.empty()) continue;
    EXPECT_TRUE(names.contains(schema.observe)) << schema.name;
    filled.insert(schema.observe);
  }
  EXPECT_EQ(filled, names) << "an observable without an array";
}

TEST(Observables, ASourceGivesFloatsOrIntegersAsTheSchemaSays) {
  for (const auto& source : array_sources()) {
    const auto* schema = trace::find_array(trace::array_name(source.array, 0, 0));
    ASSERT_NE(schema, nullptr) << source.array;
    EXPECT_EQ(source.integers != nullptr, schema->element == trace::Element::kInteger) << source.array;
    EXPECT_EQ(source.floats != nullptr, schema->element == trace::Element::kFloat) << source.array;
  }
}

TEST(Observables, EachAsksForSomething) {
  for (const auto& observable : observables()) {
    if (observable.name == kPredictions) continue;  // asks forwards, not layers: see recorder_test.cc
    probe::LayerRequest request;
    observable.ask(request, {{0}, 8, nullptr, nullptr, std::make_shared<probe::PreviousKeys>(1)});
    EXPECT_TRUE(request.any()) << observable.name;
  }
}

}  // namespace
}  // namespace buoy::observe
