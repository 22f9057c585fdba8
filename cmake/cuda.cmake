# cuda.cmake - is the backend for NVIDIA cards built? Sets NPMD_WITH_CUDA, NPMD_NVCC (the compiler), NPMD_CUDA_FLAGS
# (its flags) and NPMD_CUDA_OTHER (the source that is left out, as a pattern).
#
# CMake does not know the language here (CMakeLists.txt says why), but what its users set for it is meant: the variables
# CMAKE_CUDA_COMPILER, _HOST_COMPILER, _FLAGS, _ARCHITECTURES and _COMPILER_LAUNCHER, and of the environment CUDACXX,
# CUDAHOSTCXX, CUDAFLAGS and CUDAARCHS.
#
# A compiler that is there but does not work (no host compiler that it accepts, say) counts as none under AUTO: a build
# that asked for nothing must not fail. Sanitizers, fuzzing and a fully static program (which cannot load the driver)
# are taken as not asking.
npmd_feature(CUDA "The backend for NVIDIA cards")
set(npmd_reason "")
set(npmd_names COMPILER HOST_COMPILER FLAGS ARCHITECTURES)
set(npmd_environment CUDACXX CUDAHOSTCXX CUDAFLAGS CUDAARCHS)
foreach(name variable IN ZIP_LISTS npmd_names npmd_environment)
    if(NOT DEFINED CMAKE_CUDA_${name} AND DEFINED ENV{${variable}}) # kept, for the environment may be another next time
        set(CMAKE_CUDA_${name} "$ENV{${variable}}" CACHE STRING "What ${variable} of the environment said")
    endif()
endforeach()

# npmd_cuda_code(out): nvcc's flags for the cards of CMAKE_CUDA_ARCHITECTURES, which are CMake's words: 90 is machine
# code and PTX (for later cards), 90-real and 90-virtual are one of them; or all, all-major, native, OFF. If nothing is
# said: machine code for the list below as far as this compiler knows it, and PTX of the newest.
function(npmd_cuda_code out)
    set(cards "${CMAKE_CUDA_ARCHITECTURES}")
    set(code "")
    if(cards STREQUAL "")
        execute_process(COMMAND ${NPMD_NVCC} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
        string(REGEX MATCHALL "[0-9]+" known "${known}")
        set(newest "")
        foreach(card IN ITEMS 80 86 89 90 100)
            if(NOT known OR card IN_LIST known)
                list(APPEND cards ${card}-real)
                set(newest ${card}-virtual)
            endif()
        endforeach()
        list(APPEND cards ${newest})
    endif()
    if(cards MATCHES "^(all|all-major|native)$")
        set(code -arch=${cards})
    elseif(cards) # else OFF: what nvcc or CMAKE_CUDA_FLAGS say
        foreach(card IN LISTS cards)
            if(NOT card MATCHES "^([0-9]+[a-z]?)(-real|-virtual)?$")
                message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES=${cards}: '${card}' was found where 90, 90-real or "
                                    "90-virtual, say, was expected")
            endif()
            set(number ${CMAKE_MATCH_1})
            if(NOT CMAKE_MATCH_2 STREQUAL "-virtual")
                list(APPEND code -gencode=arch=compute_${number},code=sm_${number})
            endif()
            if(NOT CMAKE_MATCH_2 STREQUAL "-real")
                list(APPEND code -gencode=arch=compute_${number},code=compute_${number})
            endif()
        endforeach()
    endif()
    set(${out} ${code} PARENT_SCOPE)
    set(npmd_cards "${cards}" PARENT_SCOPE)
endfunction()

if(NPMD_CUDA STREQUAL "AUTO" AND (NPMD_SANITIZE OR NPMD_FUZZ OR NPMD_STATIC_PROGRAM))
    set(npmd_reason "not in such a build unless NPMD_CUDA is ON")
elseif(NOT NPMD_CUDA STREQUAL "OFF")
    if(NOT CMAKE_CUDA_COMPILER)
        find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATH_SUFFIXES bin
                     PATHS /usr/local/cuda /opt/cuda)
    endif()
    if(CMAKE_CUDA_COMPILER)
        find_program(npmd_nvcc "${CMAKE_CUDA_COMPILER}" NO_CACHE) # which may be a name without a path
        set(NPMD_NVCC "${npmd_nvcc}")
    endif()
    if(NOT CMAKE_CUDA_COMPILER)
        set(npmd_reason "nvcc was not found (CMAKE_CUDA_COMPILER, CUDACXX or CUDA_PATH may say where it is)")
    elseif(NOT NPMD_NVCC)
        set(npmd_reason "the compiler ${CMAKE_CUDA_COMPILER} was not found")
    else()
        # No fast-math: division and square roots are the same numbers as elsewhere. What users say is last, and wins.
        npmd_cuda_code(npmd_code)
        set(NPMD_CUDA_FLAGS -std=c++17 -O3 ${npmd_code} -Xfatbin=-compress-all
            -Xcompiler=-fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-Wall,-Wextra)
        if(NPMD_WERROR)
            list(APPEND NPMD_CUDA_FLAGS -Werror=all-warnings)
        endif()
        if(CMAKE_CUDA_HOST_COMPILER)
            list(APPEND NPMD_CUDA_FLAGS -ccbin=${CMAKE_CUDA_HOST_COMPILER})
        endif()
        separate_arguments(npmd_users UNIX_COMMAND "${CMAKE_CUDA_FLAGS}")
        list(APPEND NPMD_CUDA_FLAGS ${npmd_users})
        if(NOT NPMD_NVCC_WORKS STREQUAL "${NPMD_NVCC} ${NPMD_CUDA_FLAGS}") # tried once for each compiler and its flags
            set(npmd_try ${PROJECT_BINARY_DIR}/CMakeFiles/nvcc_works)
            file(WRITE ${npmd_try}.cu "__global__ void nothing(float *x) { *x = 1.0f; }\n")
            execute_process(COMMAND ${NPMD_NVCC} ${NPMD_CUDA_FLAGS} -c ${npmd_try}.cu -o ${npmd_try}.o
                            RESULT_VARIABLE npmd_failed OUTPUT_VARIABLE npmd_said ERROR_VARIABLE npmd_said)
            if(npmd_failed)
                set(npmd_reason "${NPMD_NVCC} does not work: ${npmd_said}")
            else()
                set(NPMD_NVCC_WORKS "${NPMD_NVCC} ${NPMD_CUDA_FLAGS}" CACHE INTERNAL "the nvcc that compiled a kernel")
            endif()
        endif()
    endif()
endif()
npmd_settle(CUDA "NVIDIA cards" "${npmd_reason}" "${NPMD_NVCC}, for ${npmd_cards}")

if(NPMD_WITH_CUDA)
    get_filename_component(npmd_bin ${NPMD_NVCC} DIRECTORY)
    if(NOT CUDAToolkit_ROOT AND NOT DEFINED ENV{CUDAToolkit_ROOT})
        get_filename_component(CUDAToolkit_ROOT ${npmd_bin} DIRECTORY) # the runtime of this compiler
    endif()
    find_package(CUDAToolkit REQUIRED)
    get_filename_component(NPMD_CUDA_LIBRARY_DIR "${CUDA_cudart_static_LIBRARY}" DIRECTORY)
    set(NPMD_CUDA_OTHER "/cuda_absent\\.c$")
else()
    set(NPMD_CUDA_OTHER "/cuda\\.c$")
endif()
