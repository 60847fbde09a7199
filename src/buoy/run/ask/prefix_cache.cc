#include "buoy/run/ask/prefix_cache.h"

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::run {
namespace {

std::int64_t common(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

model::KvCache PrefixCache::start(std::span<const std::int32_t> prompt) {
  if (prompts_++ == 0) {
    first_.assign(prompt.begin(), prompt.end());
    return model_.new_cache();
  }
  const std::int64_t most = static_cast<std::int64_t>(prompt.size()) - 1;
  if (prompts_ == 2) {
    const std::int64_t length = std::min(common(first_, prompt), most);
    first_.resize(static_cast<size_t>(std::max<std::int64_t>(length, 0)));
    if (length >= kShortest) {
      auto cache = model_.new_cache();
      const model::SequenceInput input{first_, {}, &cache};
      try {
        model_.forward(context_, std::span(&input, 1));
        kept_.emplace(std::move(cache));
      } catch (const InputError&) {
        // No finite numbers: nothing is kept, and each prompt that begins like this fails by itself.
      }
    }
  }
  if (!kept_) return model_.new_cache();
  const std::int64_t length = std::min(common(first_, prompt), most);
  return length >= kShortest ? kept_->prefix(length) : model_.new_cache();
}

}  // namespace buoy::run
