#include "buoy/run/change/residual_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "buoy/base/container/npy.h"
#include "buoy/base/error.h"
#include "buoy/base/sha256.h"

namespace buoy::run {
namespace {

constexpr char kSteerForm[] =
    "WHERE@LAYERS[:pre|:mid|:post][/STEPS]=[FACTOR*]FILE, as in answer@12=2*direction.npy";
constexpr char kPatchForm[] = "WHERE@LAYERS[:pre|:mid|:post][/STEPS]=FILE, as in 0,5-8@12=states.npy";

struct Text {
  const std::string& whole;
  const char* field;
  const char* form;

  [[noreturn]] void refuse() const { throw_usage_error({field, form, '"' + whole + '"'}); }
};

// What follows the last `mark`, which is cut off; "" when there is none.
std::string cut(const Text& text, std::string& from, char mark) {
  const auto at = from.rfind(mark);
  if (at == std::string::npos) return {};
  const std::string rest = from.substr(at + 1);
  if (rest.empty()) text.refuse();
  from.resize(at);
  return rest;
}

probe::ResidualPoint point_of(const Text& text, const std::string& name) {
  if (name.empty() || name == "post") return probe::ResidualPoint::kPost;
  if (name == "mid") return probe::ResidualPoint::kMid;
  if (name == "pre") return probe::ResidualPoint::kPre;
  text.refuse();
}

// [hidden] or [positions, hidden].
std::vector<float> read_vectors(const std::string& file, double factor) {
  NpyArray array = read_npy(file);
  if (array.values.empty() || array.shape.empty() || array.shape.size() > 2)
    throw_input_error({file, "a vector [hidden], or one for each position, [positions, hidden]",
                       fmt::format("{} dimensions, {} numbers", array.shape.size(), array.values.size())});
  for (float& value : array.values) {
    value = static_cast<float>(value * factor);
    if (!std::isfinite(value))
      throw_input_error({file, "finite numbers, also times the factor", fmt::format("{}", value)});
  }
  return std::move(array.values);
}

}  // namespace

ResidualVectors parse_residual_vectors(const std::string& whole, bool replace) {
  const Text text{whole, replace ? kPatchField : kSteerField, replace ? kPatchForm : kSteerForm};
  const auto equals = whole.find('=');
  if (equals == std::string::npos) text.refuse();
  std::string left = whole.substr(0, equals), file = whole.substr(equals + 1);
  double factor = 1;
  if (const auto star = file.find('*'); star != std::string::npos && !replace) {
    const char* end = file.data() + star;
    const auto [stopped, failure] = std::from_chars(file.data(), end, factor);
    if (failure != std::errc() || stopped != end || !std::isfinite(factor)) text.refuse();
    file = file.substr(star + 1);
  }
  ResidualVectors out;
  out.replace = replace;
  if (const auto steps = cut(text, left, '/'); !steps.empty()) {
    out.steps = {steps, text.field};
    out.of_single_steps = true;
  }
  out.at = point_of(text, left.find('@') < left.find(':') ? cut(text, left, ':') : "");
  const auto layers = cut(text, left, '@');
  if (layers.empty() || left.empty() || file.empty()) text.refuse();
  out.layers = {layers, text.field};
  out.where = left;
  if (left.find_first_not_of("0123456789,-") == std::string::npos) {
    out.positions = observe::NumberSet(left, text.field).listed();
    if (!std::is_sorted(out.positions.begin(), out.positions.end()) ||
        std::adjacent_find(out.positions.begin(), out.positions.end()) != out.positions.end())
      throw_usage_error({text.field, "positions in ascending order, none twice", '"' + left + '"'});
  }
  out.values = read_vectors(file, factor);
  return out;
}

std::string stored_text(const std::string& text, const ResidualVectors& vectors) {
  return fmt::format("{} {} (sha256 {})", vectors.replace ? "patch" : "steer", text,
                     sha256_hex(std::as_bytes(std::span(vectors.values))));
}

void check_residual_vectors(const ResidualVectors& vectors, const ModelConfig& config, bool has_steps) {
  vectors.layers.below(config.layers, "layers");  // refuses others
  if (vectors.of_single_steps && !has_steps)
    throw_usage_error({vectors.field(), "no steps: an autoregressive row is the same at every step",
                       vectors.where + "/..."});
  const std::int64_t count = std::ssize(vectors.values);
  const bool one = count == config.hidden;
  if (one || (!vectors.positions.empty() && count == std::ssize(vectors.positions) * config.hidden) ||
      (vectors.positions.empty() && count > 0 && count % config.hidden == 0))
    return;
  throw_usage_error({vectors.field(),
                     vectors.positions.empty()
                         ? fmt::format("vectors of {} numbers, the width of the model", config.hidden)
                         : fmt::format("{} numbers, or {} for each of {} positions", config.hidden,
                                       config.hidden, vectors.positions.size()),
                     fmt::format("{} numbers", count)});
}

}  // namespace buoy::run
