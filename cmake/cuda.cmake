# cuda.cmake - is the backend for NVIDIA cards built? Sets NPMD_WITH_CUDA, NPMD_CUDA_FLAGS (of nvcc) and
# NPMD_CUDA_OTHER (the source that is left out, as a pattern).
#
# A compiler that is there but does not work (no host compiler that it accepts, say) counts as none under
# AUTO: a build that asked for nothing must not fail. Sanitizers, fuzzing and a fully static program (which
# cannot load the driver) are taken as not asking.
set(NPMD_WITH_CUDA OFF)
set(npmd_cuda_reason "")
if(NOT NPMD_CUDA MATCHES "^(ON|OFF|AUTO)$")
    message(FATAL_ERROR "NPMD_CUDA=${NPMD_CUDA}: ON, OFF or AUTO was expected")
elseif(NPMD_CUDA STREQUAL "OFF")
    set(npmd_cuda_reason "NPMD_CUDA is OFF")
elseif(NPMD_CUDA STREQUAL "AUTO" AND (NPMD_SANITIZE OR NPMD_FUZZ OR NPMD_STATIC_PROGRAM))
    set(npmd_cuda_reason "not in such a build unless NPMD_CUDA is ON")
else()
    find_program(NPMD_NVCC nvcc HINTS "$ENV{CUDACXX}" ENV CUDA_PATH ENV CUDA_HOME PATH_SUFFIXES bin
                 PATHS /usr/local/cuda /opt/cuda)
    if(NOT NPMD_NVCC)
        set(npmd_cuda_reason "nvcc was not found (CUDA_PATH may say where CUDA is)")
    elseif(NOT NPMD_NVCC_WORKS STREQUAL NPMD_NVCC) # tried once for each compiler
        set(npmd_try ${PROJECT_BINARY_DIR}/CMakeFiles/nvcc_works)
        file(WRITE ${npmd_try}.cu "__global__ void nothing(float *x) { *x = 1.0f; }\n")
        execute_process(COMMAND ${NPMD_NVCC} -std=c++17 -arch=sm_80 -c ${npmd_try}.cu -o ${npmd_try}.o
                        RESULT_VARIABLE npmd_failed OUTPUT_VARIABLE npmd_said ERROR_VARIABLE npmd_said)
        if(npmd_failed)
            set(npmd_cuda_reason "${NPMD_NVCC} does not work: ${npmd_said}")
        else()
            set(NPMD_NVCC_WORKS ${NPMD_NVCC} CACHE INTERNAL "the nvcc that compiled a kernel")
        endif()
    endif()
    if(npmd_cuda_reason STREQUAL "")
        set(NPMD_WITH_CUDA ON)
    elseif(NPMD_CUDA STREQUAL "ON")
        message(FATAL_ERROR "NPMD_CUDA=ON: ${npmd_cuda_reason}")
    endif()
endif()

if(NPMD_WITH_CUDA)
    get_filename_component(npmd_bin ${NPMD_NVCC} DIRECTORY)
    if(NOT CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT})
        get_filename_component(CUDAToolkit_ROOT ${npmd_bin} DIRECTORY) # the runtime of this compiler
    endif()
    find_package(CUDAToolkit REQUIRED)
    get_filename_component(NPMD_CUDA_LIBRARY_DIR "${CUDA_cudart_static_LIBRARY}" DIRECTORY)

    # Older compilers do not know the newest cards: those are left out, and reached through PTX.
    execute_process(COMMAND ${NPMD_NVCC} --list-gpu-arch OUTPUT_VARIABLE npmd_known ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+" npmd_known "${npmd_known}")
    set(npmd_code "")
    set(npmd_newest "")
    foreach(card IN LISTS NPMD_CUDA_ARCHITECTURES)
        string(REGEX MATCH "^[0-9]+" number "${card}")
        if(NOT npmd_known OR number IN_LIST npmd_known)
            list(APPEND npmd_code -gencode=arch=compute_${card},code=sm_${card})
            if(card STREQUAL number) # code for one kind of card (90a) has no future as PTX
                set(npmd_newest ${card})
            endif()
        endif()
    endforeach()
    if(npmd_code STREQUAL "")
        message(FATAL_ERROR "NPMD_CUDA_ARCHITECTURES=${NPMD_CUDA_ARCHITECTURES}: none that ${NPMD_NVCC} knows")
    endif()
    if(NOT npmd_newest STREQUAL "")
        list(APPEND npmd_code -gencode=arch=compute_${npmd_newest},code=compute_${npmd_newest})
    endif()

    # No fast-math: division and square roots are the same numbers as elsewhere.
    set(NPMD_CUDA_FLAGS -std=c++17 -O3 ${npmd_code} -Xfatbin=-compress-all
        -Xcompiler=-fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-Wall,-Wextra)
    if(NPMD_WERROR)
        list(APPEND NPMD_CUDA_FLAGS -Werror=all-warnings)
    endif()
    set(NPMD_CUDA_OTHER "/cuda_absent\\.c$")
    message(STATUS "CUDA: built in, by ${NPMD_NVCC}, for ${NPMD_CUDA_ARCHITECTURES}")
else()
    set(NPMD_CUDA_OTHER "/cuda\\.c$")
    message(STATUS "CUDA: not built in (${npmd_cuda_reason})")
endif()
