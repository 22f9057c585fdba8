/* surface_map.c - an area-preserving map between a surface and the unit square.
 *
 * The square is cut into one rectangle for each face, with the face's share of the area: a rectangle and its faces are
 * split in two along the side that is longer on the sphere, in proportion to the areas of both halves of the faces,
 * until one face is left. A face is mapped to its rectangle by
 *
 *     (s, t) in [0,1]^2   ->   u = sqrt(s) (1 - t),  v = sqrt(s) t,
 *
 * which preserves area. So a uniform point of the square is a uniform point of the surface, and a density relative to
 * the uniform measure is the same number on both. The map is only piecewise continuous: points that are close on the
 * surface are mostly close in the square, which is enough for a proposal. The map itself is in maps.h. */
#include "surface_factor.h"

typedef struct layout {
    surface_map *map;
    const double *centroid, *area;
} layout;

static double layout_key(const layout *l, int axis, int32_t face)
{
    return l->centroid[2 * (size_t)face + (size_t)axis];
}

/* By the coordinate, then by the number: no two are equal, so the halves do not depend on how they are found. */
static bool layout_before(const layout *l, int axis, int32_t a, int32_t b)
{
    const double x = layout_key(l, axis, a), y = layout_key(l, axis, b);
    return x < y || (x == y && a < b);
}

/* Afterwards the faces at low .. k - 1 come before those at k .. high - 1 (Hoare's selection, as Wirth has it). */
static void layout_halve(const layout *l, int axis, size_t low, size_t high, size_t k)
{
    int32_t *order = l->map->order;
    ptrdiff_t left = (ptrdiff_t)low, right = (ptrdiff_t)high - 1;
    while (left < right) {
        const int32_t pivot = order[k];
        ptrdiff_t i = left, j = right;
        do {
            while (layout_before(l, axis, order[i], pivot))
                i++;
            while (layout_before(l, axis, pivot, order[j]))
                j--;
            if (i <= j) {
                const int32_t held = order[i];
                order[i++] = order[j];
                order[j--] = held;
            }
        } while (i <= j);
        if (j < (ptrdiff_t)k)
            left = i;
        if ((ptrdiff_t)k < i)
            right = j;
    }
}

/* Is the first side (sine of the latitude) the longer one on the sphere? With latitudes between theta0 and theta1 the
 * area of the rectangle is (z1 - z0) width, and its height theta1 - theta0. */
static bool layout_tall(const double corner[4])
{
    const double z0 = fmax(-1.0, 2.0 * corner[0] - 1.0), z1 = fmin(1.0, 2.0 * corner[1] - 1.0);
    const double height = asin(z1) - asin(z0), area = (z1 - z0) * TWO_PI * (corner[3] - corner[2]);
    return height * height >= area;
}

static double layout_area(const layout *l, size_t low, size_t high)
{
    double sum = 0.0;
    for (size_t i = low; i < high; i++)
        sum += l->area[l->map->order[i]];
    return sum;
}

static void layout_divide(const layout *l, size_t low, size_t high, const double corner[4])
{
    surface_map *map = l->map;
    if (high - low == 1) {
        memcpy(map->corner[map->order[low]], corner, sizeof *map->corner);
        return;
    }
    const size_t middle = (low + high) / 2;
    const int axis = layout_tall(corner) ? 0 : 1;
    double first[4], second[4];
    layout_halve(l, axis, low, high, middle);
    const double before = layout_area(l, low, middle), after = layout_area(l, middle, high);
    memcpy(first, corner, sizeof first);
    memcpy(second, corner, sizeof second);
    map->axis[middle] = (unsigned char)axis;
    map->split[middle] = first[2 * axis + 1] = second[2 * axis] = corner[2 * axis]
                                                                  + (corner[2 * axis + 1] - corner[2 * axis])
                                                                        * (before / (before + after));
    layout_divide(l, low, middle, first);
    layout_divide(l, middle, high, second);
}

npmd_status surface_map_open(surface_map *map, size_t faces, const double *centroid, const double *area,
                             npmd_error *err)
{
    npmd_status st = NPMD_OK;
    *map = (surface_map){ .faces = faces };
    TRY(memory_new(&map->corner, faces, err));
    TRY(memory_new(&map->order, faces, err));
    TRY(memory_new(&map->split, faces, err));
    TRY(memory_new(&map->axis, faces, err));
    for (size_t i = 0; i < faces; i++)
        map->order[i] = (int32_t)i;
    layout_divide(&(layout){ map, centroid, area }, 0, faces, (const double[]){ 0.0, 1.0, 0.0, 1.0 });
done:
    if (st != NPMD_OK)
        surface_map_close(map);
    return st;
}

void surface_map_close(surface_map *map)
{
    memory_free(map->corner);
    memory_free(map->order);
    memory_free(map->split);
    memory_free(map->axis);
    *map = (surface_map){ 0 };
}
