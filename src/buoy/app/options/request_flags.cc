#include "buoy/app/options/request_flags.h"

#include "buoy/run/attention_features.h"

namespace buoy::app {

run::Request read_request(const RequestFlags& flags) {
  run::Request request = flags.request;
  request.arrangement.closed_book = request.arrangement.passages == 0;
  request.chat = flags.chat.choice;
  request.chat_use = chat_use(flags.chat);
  if (request.observe == "features") request.observe = run::kFeatureObservables;
  request.changes = parse_changes(flags.changes);
  if (flags.fields) request.read.fields = parse_fields(*flags.fields);
  if (flags.limit > 0) request.read.limit = static_cast<std::size_t>(flags.limit);
  return request;
}

}  // namespace buoy::app
