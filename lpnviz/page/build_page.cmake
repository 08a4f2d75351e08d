# npm ci and the bundle, in WORK; to OUT. What fails here is no failure of the build: the page is then
# skipped, and OUT/skipped.txt says why to `lpn viz`.
file(MAKE_DIRECTORY ${OUT})
file(REMOVE ${OUT}/skipped.txt)
set(stamp ${WORK}/node_modules/.stamp)
if(NOT EXISTS ${stamp} OR ${WORK}/package-lock.json IS_NEWER_THAN ${stamp})
  execute_process(COMMAND ${NPM} ci --no-audit --no-fund --ignore-scripts --loglevel=error
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed ERROR_VARIABLE said OUTPUT_QUIET)
  if(failed)
    string(SUBSTRING "${said}" 0 400 said)
    file(WRITE ${OUT}/skipped.txt "npm ci failed: ${said}")
    message(WARNING "lpnviz: the page is skipped; npm ci failed: ${said}")
    return()
  endif()
  file(TOUCH ${stamp})
endif()
execute_process(COMMAND ${NODE} build.mjs ${OUT} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
