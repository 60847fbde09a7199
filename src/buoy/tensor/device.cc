#include "buoy/tensor/device.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "buoy/base/error.h"

namespace buoy {

bool can_run_models(const DeviceInfo& device) {
  return device.major >= 8;
}

std::vector<std::string> visible_cards(const char* variable, int cards) {
  std::vector<std::string> names;
  if (variable == nullptr) {
    for (int card = 0; card < cards; ++card) names.push_back(std::to_string(card));
    return names;
  }
  const std::string list = variable;
  for (std::size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    const auto name = list.substr(begin, end - begin);
    if (name.empty() || name == "-1") break;  // CUDA too sees none from there on
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

std::vector<std::string> visible_cards() {
  int cards = 0;
  std::error_code failure;
  for (std::filesystem::directory_iterator at("/proc/driver/nvidia/gpus", failure), end;
       !failure && at != end; at.increment(failure))
    ++cards;
  return visible_cards(std::getenv("CUDA_VISIBLE_DEVICES"), cards);
}

void choose_card(int number) {
  const auto cards = visible_cards();
  if (cards.empty()) return;
  const auto& card = cards[static_cast<std::size_t>(number) % cards.size()];
  ::setenv("CUDA_VISIBLE_DEVICES", card.c_str(), 1);
}

Device device_from_name(const std::string& name) {
  if (name.starts_with("cuda:")) {
    const auto digits = name.substr(5);
    if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos)
      throw_usage_error({"`device`", "cuda:K, the number of a card from 0", '"' + name + '"'});
    const auto cards = visible_cards();
    const auto number = static_cast<std::size_t>(std::stoi(digits));
    if (number >= cards.size())
      throw_usage_error({"`device` " + name,
                         fmt::format("less than {}, the GPUs this process can use", cards.size()), digits});
    choose_card(static_cast<int>(number));
    return device_from_name("cuda");
  }
  if (name == "cpu") return Device::kCpu;
  if (name != "cuda" && name != "auto")
    throw_usage_error({"`device`", "cpu, cuda, cuda:K or auto", '"' + name + '"'});
  const bool must = name == "cuda";
  if (!must && !has_device_backend()) return Device::kCpu;
  const auto devices = usable_devices();
  if (!devices.empty() && can_run_models(devices.front())) return Device::kCuda;
  if (!must) return Device::kCpu;
  if (devices.empty()) throw_usage_error({"`device` cuda", "an NVIDIA GPU this process can use", "none"});
  const auto& d = devices.front();
  throw_usage_error({"`device` cuda", "compute capability 8.0 (Ampere) or later",
                     fmt::format("{} with {}.{}", d.name, d.major, d.minor)});
}

}  // namespace buoy
