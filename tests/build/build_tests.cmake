# How Buoy is built, set up and installed. Those labelled heavy take minutes or need much to be installed: `make test-all`
# runs them.
add_test(NAME build_version COMMAND ${PROJECT_SOURCE_DIR}/tests/build/version_test ${PROJECT_SOURCE_DIR})
add_test(NAME build_python COMMAND ${PROJECT_SOURCE_DIR}/tests/build/python_test ${PROJECT_SOURCE_DIR})
add_test(NAME build_presets COMMAND ${PROJECT_SOURCE_DIR}/tests/build/presets_test ${PROJECT_SOURCE_DIR})
add_test(NAME build_setup COMMAND ${PROJECT_SOURCE_DIR}/tests/build/setup_test ${PROJECT_SOURCE_DIR})
if(NOT CMAKE_CROSSCOMPILING)
  add_test(NAME build_install COMMAND ${PROJECT_SOURCE_DIR}/tests/build/install_test ${PROJECT_BINARY_DIR})
  add_test(NAME build_package COMMAND ${PROJECT_SOURCE_DIR}/tests/build/package_test ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  add_test(NAME build_subproject COMMAND ${PROJECT_SOURCE_DIR}/tests/build/subproject_test ${PROJECT_SOURCE_DIR})
  set_tests_properties(build_package build_subproject PROPERTIES LABELS heavy TIMEOUT 900)
  add_test(NAME build_without_apt COMMAND ${PROJECT_SOURCE_DIR}/tests/build/without_apt_test ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/clean)
  set_tests_properties(build_without_apt PROPERTIES LABELS heavy TIMEOUT 1800 RUN_SERIAL ON)
  add_test(NAME howto_patches COMMAND ${PROJECT_SOURCE_DIR}/tests/build/howto_test ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/clean)
  # It goes on with what the other has built.
  set_tests_properties(howto_patches PROPERTIES LABELS heavy TIMEOUT 1800 RUN_SERIAL ON DEPENDS build_without_apt)
  add_test(NAME browser COMMAND ${PROJECT_SOURCE_DIR}/tests/browser/run $<TARGET_FILE:buoy> ${PROJECT_BINARY_DIR}/browser)
  add_test(NAME web_lint COMMAND ${PROJECT_SOURCE_DIR}/tests/browser/lint ${PROJECT_BINARY_DIR}/browser)
  set_tests_properties(browser web_lint PROPERTIES LABELS heavy TIMEOUT 600)
endif()
# The vocabularies that tools/fetch_tokenizers fetches: `make test` may lack them, `make test-all` may not.
add_test(NAME real_tokenizers COMMAND text_tests --gtest_filter=RealTokenizers.*:*RealReference*:Reference.*)
set_tests_properties(real_tokenizers PROPERTIES LABELS heavy FAIL_REGULAR_EXPRESSION "SKIPPED" TIMEOUT 300)
