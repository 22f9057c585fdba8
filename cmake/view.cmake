# view.cmake - can the command view write its page? Sets NPMD_WITH_VIEW, NPMD_VIEW_PAGE (the source that holds the page)
# and NPMD_VIEW_OTHER (the source that is left out, as a pattern).
#
# The page (folder view/) needs three.js (MIT) of one version, checked by its hash. It is looked for, never fetched: in
# the folder NPMD_THREE, in three/package of this build folder, and in build/three/package of the source tree, where
# scripts/three.sh puts it. Where none has it, all else is built, and view says what is missing. The page is put
# together when something of it changes, by view_bundle.cmake.
file(STRINGS view/three.txt told REGEX "^[a-z]")
foreach(line IN LISTS told)
    string(REGEX MATCH "^([^ ]+) (.*)$" line "${line}")
    set(npmd_three_${CMAKE_MATCH_1} ${CMAKE_MATCH_2}) # version, file, file-sha256
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/view/three.txt)

npmd_feature(VIEW "The interactive page of the command view")
set(NPMD_THREE "" CACHE PATH "The unpacked npm package three, if it is neither in the build folder nor in build/")
set(npmd_reason "")

# npmd_three_is(folder out): does the folder hold the package, of this very version?
function(npmd_three_is folder out)
    set(${out} OFF PARENT_SCOPE)
    if(EXISTS "${folder}/${npmd_three_file}" AND EXISTS "${folder}/LICENSE")
        file(SHA256 "${folder}/${npmd_three_file}" found)
        if(found STREQUAL "${npmd_three_file-sha256}")
            set(${out} ON PARENT_SCOPE)
        endif()
    endif()
endfunction()

if(NPMD_THREE)
    set(npmd_three "${NPMD_THREE}")
    npmd_three_is("${npmd_three}" npmd_found)
    if(NOT npmd_found) # it was asked for: nothing else is taken in its place
        message(FATAL_ERROR "NPMD_THREE=${NPMD_THREE}: the npm package three ${npmd_three_version}, unpacked, was "
                            "expected")
    endif()
elseif(NOT NPMD_VIEW STREQUAL "OFF")
    set(npmd_found OFF)
    foreach(folder IN ITEMS ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/build)
        if(NOT npmd_found)
            set(npmd_three ${folder}/three/package)
            file(GLOB npmd_there CONFIGURE_DEPENDS ${npmd_three}/LICENSE) # the next build notices that it has come
            npmd_three_is("${npmd_three}" npmd_found)
        endif()
    endforeach()
    if(NOT npmd_found)
        set(npmd_reason "three.js ${npmd_three_version} is not here (scripts/three.sh fetches it)")
    endif()
endif()
npmd_settle(VIEW "interactive page" "${npmd_reason}" "three.js ${npmd_three_version}")

if(NPMD_WITH_VIEW)
    set(NPMD_VIEW_OTHER "/view_page_absent\\.c$")
    set(NPMD_VIEW_PAGE ${PROJECT_BINARY_DIR}/view_page.c)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/view/*)
    add_custom_command(OUTPUT ${NPMD_VIEW_PAGE}
        COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/view -DTHREE=${npmd_three} -DOUT=${NPMD_VIEW_PAGE}
                -P ${PROJECT_SOURCE_DIR}/cmake/view_bundle.cmake
        DEPENDS ${sources} ${npmd_three}/${npmd_three_file} ${PROJECT_SOURCE_DIR}/cmake/view_bundle.cmake
        COMMENT "Putting the page together" VERBATIM)
else()
    set(NPMD_VIEW_OTHER "^$") # nothing
endif()
