#include "buoy/study/design/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/progress.h"

namespace buoy::study {
namespace {

constexpr int kMostProcesses = 1 << 20;

const char* slowest_of(const ScalingPoint& point) {
  const std::pair<double, const char*> all[] = {{point.loading, "loading weights"},
                                                {point.decoding, "single samples, which cannot be divided"},
                                                {point.merging, "joining"},
                                                {point.report, "the report, which one process makes"}};
  return std::max_element(std::begin(all), std::end(all))->second;
}

}  // namespace

ScalingRates parse_rates(const std::string& text) {
  ScalingRates rates;
  double per_node = rates.per_node;
  const std::map<std::string, double*> known = {
      {"loading", &rates.loading}, {"decoding", &rates.decoding}, {"report", &rates.report},
      {"disk", &rates.disk},       {"per_node", &per_node},       {"merge_sample", &rates.merge_sample}};
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto one = text.substr(begin, end - begin);
    begin = end + 1;
    const auto equals = one.find('=');
    const auto found = known.find(one.substr(0, equals));
    char* stopped = nullptr;
    const std::string number = equals == std::string::npos ? "" : one.substr(equals + 1);
    const double value = std::strtod(number.c_str(), &stopped);
    if (found == known.end() || number.empty() || *stopped != '\0' || !(value >= 0) || std::isinf(value))
      throw_usage_error({"`rates`",
                         "loading, decoding, report, disk, per_node or merge_sample = a number, 0 or more",
                         '"' + one + '"'});
    *found->second = value;
  }
  rates.per_node = static_cast<int>(std::clamp(per_node, 1.0, 4096.0));
  if (!(rates.decoding > 0))
    throw_usage_error({"`rates`", "decoding=SECONDS of one process (`timing` says it)", '"' + text + '"'});
  return rates;
}

ScalingPoint scale(const std::vector<StudyPart>& parts, const ScalingRates& rates, std::uint64_t weights,
                   int processes) {
  double work = 0, samples = 0;
  for (const auto& part : parts) work += part.work;
  ScalingPoint point;
  point.processes = processes;
  for (const auto& part : parts) {
    if (part.questions == 0 || work <= 0 || part.work <= 0) continue;
    const auto questions = static_cast<double>(part.questions);
    samples += questions;
    // The longest share, in whole samples.
    point.decoding += rates.decoding * part.work / work * std::ceil(questions / processes) / questions;
  }
  const double nodes = std::ceil(static_cast<double>(processes) / rates.per_node);
  const double reading = rates.disk > 0 ? nodes * static_cast<double>(weights) / rates.disk : 0;
  point.loading = std::max(rates.loading, reading);
  point.merging = processes > 1 ? samples * rates.merge_sample : 0;
  point.report = rates.report;
  return point;
}

int stops_scaling_at(const std::vector<StudyPart>& parts, const ScalingRates& rates, std::uint64_t weights) {
  constexpr double kGain = 0.9;
  int processes = 2;
  for (; processes < kMostProcesses; processes *= 2) {
    if (scale(parts, rates, weights, processes).total() >
        kGain * scale(parts, rates, weights, processes / 2).total())
      break;
  }
  return processes;
}

std::string describe_scaling(const std::vector<StudyPart>& parts, const ScalingRates& rates,
                             std::uint64_t weights, const std::vector<int>& processes) {
  std::string out;
  const double alone = scale(parts, rates, weights, 1).total();
  for (const int count : processes) {
    const auto point = scale(parts, rates, weights, count);
    out += fmt::format(
        "{} processes: {} ({:.1f} times as fast as one): loading {}, decoding {}, joining {}, report {}\n",
        count, describe_duration(point.total()), alone / point.total(), describe_duration(point.loading),
        describe_duration(point.decoding), describe_duration(point.merging), describe_duration(point.report));
  }
  std::uint64_t bytes = 0;
  for (const auto& part : parts) bytes += part.bytes;
  const int stop = stops_scaling_at(parts, rates, weights);
  out += fmt::format("writes about {}, and until the parts are removed no more where the disk has links\n",
                     describe_bytes(bytes));
  out +=
      fmt::format("stops scaling at {} processes (less than a tenth faster than {}): most of the time is {}",
                  stop, stop / 2, slowest_of(scale(parts, rates, weights, stop)));
  return out;
}

}  // namespace buoy::study
