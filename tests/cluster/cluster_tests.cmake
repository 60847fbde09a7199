# Runs in parts under real schedulers: needs tools/setup cluster, and root.
add_test(NAME slurm COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cluster/slurm_test ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
set_tests_properties(slurm PROPERTIES LABELS heavy TIMEOUT 900)
