#pragma once

#include <string>

#include "buoy/app/options/options.h"
#include "buoy/run/loaded_model.h"

namespace buoy::app {

// Options shared by everything that runs a model.
struct ModelOptions {
  std::string folder;
  int threads = 0;  // 0: all cores this process may use
  std::string device = "auto";
};

void add_model_options(Command& command, ModelOptions& options);
// --model, of one folder or several.
template <typename Folders>
Option* add_model_option(Command& command, Folders& folders) {
  return command
      .add_option("--model", folders,
                  "folder of the model, or its id in the Hugging Face cache (ORG/NAME, ORG/NAME@REVISION;\n"
                  "eval: several, NAME=MODEL names one; study: NAME=MODEL takes the place of the study's)")
      ->type_name("MODEL");
}
void add_threads_option(Command& command, int& threads);
void add_device_option(Command& command, std::string& device);
int thread_count(const ModelOptions& options);

run::LoadedModel load_model(const ModelOptions& options);

}  // namespace buoy::app
