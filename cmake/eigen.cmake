# eigen.cmake - are eigenpairs of surfaces computed? Sets NPMD_WITH_EIGEN, NPMD_EIGEN_LINK (targets) and
# NPMD_EIGEN_OTHER (the source that is left out, as a pattern).
#
# ARPACK-NG and SuperLU (both BSD) and LAPACK are found by pkg-config, METIS (Apache-2.0) by its header and library, for
# it has no file there. Debian has SuperLU and METIS as shared libraries only: a fully static program is taken as not
# asking.
npmd_feature(EIGEN "Eigenpairs of surfaces by ARPACK, SuperLU and METIS")
set(NPMD_EIGEN_LINK "")
set(npmd_reason "")
if(NPMD_STATIC_PROGRAM)
    set(npmd_reason "a fully static program cannot load SuperLU and METIS")
elseif(NOT NPMD_EIGEN STREQUAL "OFF")
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
        pkg_check_modules(ARPACK QUIET IMPORTED_TARGET arpack>=3.8)
        pkg_check_modules(SUPERLU QUIET IMPORTED_TARGET superlu>=5.2)
        pkg_check_modules(LAPACK QUIET IMPORTED_TARGET lapack)
    endif()
    find_path(METIS_INCLUDE_DIR metis.h)
    find_library(METIS_LIBRARY metis)
    if(NOT PkgConfig_FOUND)
        set(npmd_reason "pkg-config was not found")
    elseif(NOT ARPACK_FOUND)
        set(npmd_reason "ARPACK-NG 3.8 was not found")
    elseif(NOT SUPERLU_FOUND)
        set(npmd_reason "SuperLU 5.2 was not found")
    elseif(NOT LAPACK_FOUND)
        set(npmd_reason "LAPACK was not found")
    elseif(NOT METIS_INCLUDE_DIR OR NOT METIS_LIBRARY)
        set(npmd_reason "METIS 5 was not found")
    endif()
endif()
npmd_settle(EIGEN "eigenpairs of surfaces" "${npmd_reason}"
            "ARPACK ${ARPACK_VERSION}, SuperLU ${SUPERLU_VERSION}, METIS")
if(NPMD_WITH_EIGEN)
    add_library(METIS::METIS UNKNOWN IMPORTED)
    set_target_properties(METIS::METIS PROPERTIES IMPORTED_LOCATION ${METIS_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
    set(NPMD_EIGEN_LINK PkgConfig::ARPACK PkgConfig::SUPERLU PkgConfig::LAPACK METIS::METIS)
    set(NPMD_EIGEN_OTHER "/fem_solve_absent\\.c$")
else()
    set(NPMD_EIGEN_OTHER "/fem_solve\\.c$")
endif()
