#include "buoy/text/chat/jinja/jinja_arguments.h"

namespace buoy::text::jinja {

std::vector<const Value*> Arguments::bind(const std::string& callee,
                                          std::initializer_list<std::string_view> parameters) const {
  if (placed.size() > parameters.size()) throw Refusal("too many arguments for " + callee);
  std::vector<const Value*> out(parameters.size(), nullptr);
  for (std::size_t i = 0; i < placed.size(); ++i) out[i] = &placed[i];
  for (const auto& [name, value] : named) {
    bool known = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters.begin()[i] != name) continue;
      if (out[i] != nullptr) throw Refusal("argument " + name + " of " + callee + " twice");
      out[i] = &value;
      known = true;
    }
    if (!known) throw Refusal("argument " + name + " of " + callee + ", which Buoy does not know");
  }
  return out;
}

}  // namespace buoy::text::jinja
