#include "buoy/base/stopwatch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <regex>
#include <string>
#include <thread>

namespace buoy {
namespace {

void sleep_for(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

double seconds_of(const std::string& part, const std::string& text) {
  std::smatch found;
  const bool there = std::regex_search(text, found, std::regex(part + R"( (\d+\.\d{3}) s)"));
  EXPECT_TRUE(there) << part << " not in: " << text;
  return there ? std::stod(found[1]) : -1;
}

TEST(Stopwatch, PartsComeInTheirOrderAndAddUp) {
  Stopwatch clock;
  sleep_for(20);
  clock.lap("loading");
  sleep_for(10);
  clock.lap("decoding");
  clock.lap("writing");
  const std::string said = clock.describe();
  EXPECT_TRUE(std::regex_match(
      said, std::regex(
                R"(loading \d+\.\d{3} s, decoding \d+\.\d{3} s, writing \d+\.\d{3} s; \d+\.\d{3} s in all)")))
      << said;
  EXPECT_GE(seconds_of("loading", said), 0.020);
  EXPECT_GE(seconds_of("decoding", said), 0.010);
  EXPECT_GE(seconds_of(";", said), 0.030);
}

TEST(Stopwatch, LapsOfOneNameAreAdded) {
  Stopwatch clock;
  for (int i = 0; i < 3; ++i) {
    sleep_for(10);
    clock.lap("asking");
    clock.lap("writing");
  }
  const std::string said = clock.describe();
  EXPECT_EQ(said.find("asking"), said.rfind("asking")) << said;
  EXPECT_GE(seconds_of("asking", said), 0.030);
  EXPECT_LT(said.find("asking"), said.find("writing"));
}

TEST(Stopwatch, WhatLiesWithinIsToldBesideAndNotAdded) {
  Stopwatch clock;
  clock.lap("decoding");
  clock.within("handing on", 1000);
  clock.within("handing on", 500.25);
  clock.within("waiting", 2);
  clock.lap("tables");
  const std::string said = clock.describe();
  EXPECT_NE(said.find(" s (of this, handing on 1500.250 s"), std::string::npos) << said;
  EXPECT_LT(said.find("waiting 2.000 s"), said.find("tables")) << said;
  EXPECT_LT(seconds_of(";", said), 1000);
}

}  // namespace
}  // namespace buoy
