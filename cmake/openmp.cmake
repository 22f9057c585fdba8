# openmp.cmake - are several cores used? Sets NPMD_WITH_OPENMP.
npmd_feature(OPENMP "Several cores through OpenMP")
set(npmd_reason "")
if(NOT NPMD_OPENMP STREQUAL "OFF")
    find_package(OpenMP COMPONENTS C)
    if(NOT OpenMP_C_FOUND)
        set(npmd_reason "this compiler has no OpenMP")
        if(NPMD_OPENMP STREQUAL "AUTO") # a build that is slower without a word would be a surprise
            message(WARNING "this compiler has no OpenMP: neuropmd will use one core")
        endif()
    endif()
endif()
npmd_settle(OPENMP "several cores" "${npmd_reason}" "OpenMP ${OpenMP_C_VERSION}")
