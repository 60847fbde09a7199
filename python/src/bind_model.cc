#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <utility>

#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/decode/stream.h"
#include "buoy/observe/recorder.h"
#include "buoy/probe/forwarding.h"
#include "buoy/run/change/changing_probe.h"
#include "buoy/run/identity.h"
#include "buoy/run/tracer.h"
#include "held_sample.h"
#include "interruptible.h"
#include "model_handle.h"
#include "request_json.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

using Held = std::shared_ptr<HeldSample>;

std::shared_ptr<ModelHandle> load(const std::string& name, const std::string& device, int threads,
                                  std::optional<std::uint64_t> untrained) {
  py::gil_scoped_release released;
  if (threads < 0 || threads > 4096)
    throw_usage_error({"`threads`", "0 (all cores) to 4096", std::to_string(threads)});
  if (device != "cpu" && device != "cuda" && device != "auto")
    throw_usage_error({"`device`", "one of cpu, cuda, auto", '"' + device + '"'});
  const auto folder = find_model(name);
  const Device where = device_from_name(device);
  return ModelHandle::make(
      untrained ? run::make_untrained(folder, *untrained, where) : run::load_model(folder, where), threads);
}

// Steps of the only prompt of a request; 0 where there are more, which are counted themselves.
std::int64_t steps_to_tell(const run::TraceRequest& request) {
  return request.items.size() == 1 ? request.decode.steps.value_or(request.decode.max_new_tokens) : 0;
}

// Ends a run between two layers' records, or between two steps. `steps`: how many there will be; 0: it does
// not count them.
class StopProbe final : public probe::ForwardingProbe {
 public:
  StopProbe(probe::Probe* other, Watch& watch, std::int64_t steps = 0)
      : ForwardingProbe(other), watch_(watch), steps_(steps), alone_(other == nullptr) {}
  probe::LayerRequest request(const probe::Address& address, const probe::LayerExtent& extent) override {
    watch_.give_up_if_stopped();
    if (address.layer == 0 && address.step < steps_) watch_.tell("steps", address.step, steps_);
    return ForwardingProbe::request(address, extent);
  }
  // Who only stops may look on while blocks are decoded.
  bool takes_parts() const override { return alone_; }

 private:
  Watch& watch_;
  std::int64_t steps_;
  bool alone_;
};

void tell_prompts(Watch& watch, std::size_t done, const run::TraceRequest& request) {
  const auto steps = steps_to_tell(request);
  if (steps > 0) return watch.tell("steps", steps, steps);
  watch.tell("prompts", static_cast<std::int64_t>(done), std::ssize(request.items));
}

// One prompt after the other, watched, as `buoy trace` does.
std::vector<Held> watched(ModelHandle::Use& use, const run::TraceRequest& request, Watch& watch,
                          const std::shared_ptr<const trace::Manifest>& manifest) {
  run::Tracer tracer(use.context(), use.model(), traceable(request), use.loaded().tokenizer);
  const auto steps = steps_to_tell(request);
  tracer.between_steps([&](std::size_t, const decode::StepMachine& machine, const decode::StepRecord&) {
    watch.give_up_if_stopped();
    if (steps > 0) watch.tell("steps", std::min<std::int64_t>(machine.step(), steps), steps);
  });
  const auto prompts = run::prompts_of(request, use.loaded());
  std::vector<Held> out;
  for (std::size_t n = 0; n < request.items.size(); ++n) {
    const auto prompt = prompts(n);
    std::optional<observe::Recorder> recorder;  // none: only changes are made
    std::optional<StopProbe> stopping;
    const auto ran =
        tracer.watch(prompt, n, [&](const observe::Subject& subject, const auto&) -> probe::Probe& {
          if (!request.observe.empty()) recorder.emplace(tracer.plan(), subject);
          return stopping.emplace(recorder ? &*recorder : nullptr, watch);
        });
    auto sample = tracer.frame(prompt, *ran.machine, ran.subject);
    if (recorder) add_observed(sample, recorder->arrays());
    out.push_back(std::make_shared<HeldSample>(HeldSample{std::move(sample), manifest}));
    tell_prompts(watch, n + 1, request);
  }
  return out;
}

Held framed(ModelHandle::Use& use, const run::Tracer& tracer, const run::TraceRequest& request,
            const run::ItemPrompt& prompt, const decode::StepMachine& machine) {
  // Of blocks, the last one may go on behind what was asked for.
  const std::int64_t tokens =
      machine.grid() ? machine.prompt_length() + std::ssize(machine.generated()) : std::ssize(machine.row());
  const auto subject = run::subject_of(use.model().config(), request, prompt, tokens, use.loaded().tokenizer);
  return std::make_shared<HeldSample>(HeldSample{tracer.frame(prompt, machine, subject), nullptr});
}

// Packed, where nobody watches and nothing is changed.
std::vector<Held> packed(ModelHandle::Use& use, const run::TraceRequest& request, Watch& watch) {
  const run::Tracer tracer(use.context(), use.model(), traceable(request), use.loaded().tokenizer);
  const auto prompts = run::prompts_of(request, use.loaded());
  std::vector<Held> out(request.items.size());
  std::vector<run::ItemPrompt> read;
  std::size_t next = 0;
  for (std::size_t n = 0; n < request.items.size(); ++n) read.push_back(prompts(n));
  StopProbe stopping(nullptr, watch, steps_to_tell(request));
  std::size_t done = 0;
  decode::stream(
      use.context(), use.model(), {},
      [&]() -> std::optional<decode::StreamJob> {
        if (next == read.size()) return std::nullopt;
        auto own = request.decode;
        own.seed += next;
        const std::size_t number = next++;
        return decode::StreamJob{
            number, run::make_machine(use.model(), own, read[number].prompt.ids, use.loaded().tokenizer)};
      },
      [&](std::size_t number, const decode::StepMachine& machine) {
        out[number] = framed(use, tracer, request, read[number], machine);
        tell_prompts(watch, ++done, request);
      },
      &stopping);
  return out;
}

// One prompt after the other, changed, where nobody watches, as `buoy generate` does.
std::vector<Held> changed(ModelHandle::Use& use, run::TraceRequest request, Watch& watch) {
  const run::Changes changes = std::exchange(request.changes, {});
  const auto& config = use.model().config();
  const run::Tracer tracer(use.context(), use.model(), traceable(request), use.loaded().tokenizer);
  const auto prompts = run::prompts_of(request, use.loaded());
  StopProbe stopping(nullptr, watch, steps_to_tell(request));
  std::vector<Held> out;
  for (std::size_t n = 0; n < request.items.size(); ++n) {
    const auto prompt = prompts(n);
    auto own = request.decode;
    own.seed += n;
    const auto machine = run::make_machine(use.model(), own, prompt.prompt.ids, use.loaded().tokenizer);
    run::ChangedRow row{prompt.regions, std::ssize(prompt.prompt.ids) + own.max_new_tokens,
                        run::most_forwards(config, own), own};
    run::add_answer(row.regions, own.max_new_tokens);
    row.id = prompt.id;
    row.prompt = prompt.prompt.ids;
    row.seed = own.seed;
    row.left_to_right = !decode::decodes_masks(config, own);
    run::ChangingProbe changing(changes, config, row, &stopping);
    decode::StepMachine* machines[] = {machine.get()};
    decode::drive(use.context(), use.model(), machines, nullptr, &changing);
    changing.finish();
    out.push_back(framed(use, tracer, request, prompt, *machine));
    tell_prompts(watch, n + 1, request);
  }
  return out;
}

std::vector<Held> generate(const std::shared_ptr<ModelHandle>& model, const std::string& text,
                           const run::Changes& changes, const py::object& progress) {
  std::vector<Held> out;
  interruptible(progress, [&](Watch& watch) {
    const auto request = read_trace_request(text, *model, changes);
    ModelHandle::Use use(*model);
    if (request.observe.empty() && !request.changes.any()) {
      out = packed(use, request, watch);
      return;
    }
    // The look at the finished row, which a trace of a model that writes from left to right is, has no step
    // before it.
    if (request.observe.empty() && request.changes.top) {
      out = changed(use, request, watch);
      return;
    }
    std::shared_ptr<const trace::Manifest> manifest;
    if (!request.observe.empty()) {
      auto run = run::make_trace_run(request, use.loaded());
      manifest = std::make_shared<const trace::Manifest>(run.manifest);
    }
    out = watched(use, request, watch, manifest);
  });
  return out;
}

// `buoy trace`: into a folder.
std::size_t trace_to(const std::shared_ptr<ModelHandle>& model, const std::string& text,
                     const run::Changes& changes, const std::string& folder, const std::string& data,
                     std::int64_t limit, bool resume, const py::object& progress) {
  std::size_t samples = 0;
  interruptible(progress, [&](Watch& watch) {
    auto request = read_trace_request(text, *model, changes);
    if (!data.empty()) {
      request.read.require_answers = false;
      if (limit > 0) request.read.limit = static_cast<std::size_t>(limit);
      request.items = questions::read_items(data, request.read);
    }
    request.folder = folder;
    request.resume = resume;
    request.command = "buoy.Model.trace (Python)";
    ModelHandle::Use use(*model);
    const auto run = run::make_trace_run(request, use.loaded());
    std::int64_t done = 0;
    const auto step = [&] { watch.tell("samples", ++done, std::ssize(request.items)); };
    const auto result =
        run::run_trace(use.context(), use.loaded(), run, {.begin = [](const auto&) {}, .step = step});
    samples = result.samples;
  });
  return samples;
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<ModelHandle, std::shared_ptr<ModelHandle>>(module, "ModelHandle")
      .def_static("load", &load, py::arg("name"), py::arg("device"), py::arg("threads"), py::arg("untrained"))
      .def_property_readonly("folder", [](const ModelHandle& m) { return m.folder().string(); })
      .def_property_readonly("name", [](const ModelHandle& m) { return model_name(m.folder()); })
      .def_property_readonly(
          "device", [](const ModelHandle& m) { return m.model().device() == Device::kCuda ? "cuda" : "cpu"; })
      .def_property_readonly("threads", &ModelHandle::threads)
      .def_property_readonly("tokenizer", [](const ModelHandle& m) { return m.tokenizer(); })
      .def_property_readonly("stored_types", [](const ModelHandle& m) { return m.model().stored_types(); })
      .def_property_readonly("config",
                             [](const ModelHandle& m) {
                               const auto& c = m.config();
                               py::dict out;
                               out["family"] = std::string(name_of(c.family));
                               out["masked_diffusion"] = is_masked_diffusion(c.family);
                               out["n_layers"] = c.layers;
                               out["n_heads"] = c.heads;
                               out["n_kv_heads"] = c.kv_heads;
                               out["d_model"] = c.hidden;
                               out["d_head"] = c.head_dim;
                               out["d_mlp"] = c.mlp_hidden;
                               out["d_vocab"] = c.vocabulary;
                               out["n_ctx"] = c.context;
                               out["mask_token"] = c.mask_token;
                               out["eos_tokens"] = c.eos_tokens;
                               out["prediction_offset"] = m.model().traits().prediction_offset;
                               return out;
                             })
      .def("generate", &generate, py::arg("request"), py::arg("changes"), py::arg("progress"))
      .def("trace", &trace_to, py::arg("request"), py::arg("changes"), py::arg("folder"), py::arg("data"),
           py::arg("limit"), py::arg("resume"), py::arg("progress"));
}

}  // namespace buoy::python
