"""Closed triangle meshes and their Laplace-Beltrami eigenpairs."""
from __future__ import annotations

import os
from typing import Union

import numpy as np

from . import _header as h
from ._domain import Path
from ._library import Handle, call, compute, encoded, library, take


class Surface:
    """A closed, connected, oriented triangle mesh: .obj .off .ply .vtk .gii (also .gz) or FreeSurfer's binary files.

    Attributes
    ----------
    path
    vertices : array (vertices, 3)
    faces : array (faces, 3) of int32
    area : float, in the file's units squared

    Examples
    --------
    >>> import neuropmd, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "octahedron.off")
    >>> with open(path, "w") as file:
    ...     _ = file.write('''OFF
    ... 6 8 0
    ... 1 0 0
    ... -1 0 0
    ... 0 1 0
    ... 0 -1 0
    ... 0 0 1
    ... 0 0 -1
    ... 3 0 2 4
    ... 3 2 1 4
    ... 3 1 3 4
    ... 3 3 0 4
    ... 3 2 0 5
    ... 3 1 2 5
    ... 3 3 1 5
    ... 3 0 3 5
    ... ''')
    >>> surface = neuropmd.Surface(path)
    >>> surface.vertices.shape, surface.faces.shape
    ((6, 3), (8, 3))
    >>> round(surface.area, 6) == round(4 * 3 ** 0.5, 6)
    True
    """

    def __init__(self, path: Path):
        self.path = os.fspath(path)
        self._handle = take(_SurfaceHandle, library.npmd_surface_read, encoded(path), path=self.path)
        self.area: float = library.npmd_surface_area(self._handle)
        self.vertices = np.empty((library.npmd_surface_vertices(self._handle), 3))
        self.faces = np.empty((library.npmd_surface_faces(self._handle), 3), dtype=np.int32)
        for i in range(len(self.vertices)):
            library.npmd_surface_vertex(self._handle, i, self.vertices.ctypes.data + 24 * i)
        for i in range(len(self.faces)):
            library.npmd_surface_face(self._handle, i, self.faces.ctypes.data + 12 * i)

    def vertex_areas(self) -> np.ndarray:
        """A third of the area of the faces about each vertex."""
        areas = np.empty(len(self.vertices))
        library.npmd_surface_vertex_areas(self._handle, areas)
        return areas

    def __repr__(self) -> str:
        return f"Surface({self.path!r})"

    def __reduce__(self) -> tuple:
        return Surface, (self.path,)


class _SurfaceHandle(Handle):
    _type = h.npmd_surface


def eigen(surface: Union[Path, Surface], k: int, *, elements: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The first k Laplace-Beltrami eigenpairs of a mesh by finite elements: values (k) and functions (vertices, k).

    Values rise from 0, functions are orthonormal as functions on the surface. ``elements`` is 1 for linear or 2 for
    quadratic ones.

    >>> import neuropmd                                           # doctest: +SKIP
    >>> values, functions = neuropmd.eigen("lh.white.gii", 100)   # doctest: +SKIP
    """
    surface = surface if isinstance(surface, Surface) else Surface(surface)
    values, functions, residuals = np.empty(k), np.empty((len(surface.vertices), k)), np.empty(k)
    call(library.npmd_surface_eigen, surface._handle, elements, k, compute(), values, functions, residuals)
    return values, functions
