/* test_relief.c - pictures of meshes: the outline of a sphere, what hides what, colours, and equal bytes on any number
 * of threads. */
#include "icosphere.h"
#include "relief.h"

enum { SIDE = 120 };
static const double RADIUS = 50.0; /* of the unit sphere, in pixels */
static const colour GREY = { 200, 200, 200 }, BLACK = { 0, 0, 0 }, RED = { 220, 20, 20 };

typedef struct fixture {
    icosphere ball;
    relief_scene scene;
    relief_view view;
    relief_window window;
} fixture;

/* A unit sphere of 10 x 4^level + 2 vertices, seen from +z with y up, its centre in the middle of the picture. */
static fixture fixture_open(int level)
{
    const double toward[3] = { 0.0, 0.0, 1.0 }, up[3] = { 0.0, 1.0, 0.0 };
    fixture f = { .ball = icosphere_make(level), .view = relief_view_make(toward, up) };
    f.scene = (relief_scene){ .vertices = f.ball.vertices,
                              .faces = f.ball.faces,
                              .x = f.ball.x,
                              .face = f.ball.face,
                              .ground = GREY,
                              .opacity = 1.0,
                              .lift = 0.02 };
    f.window = (relief_window){ -SIDE / 2 / RADIUS, SIDE / 2 / RADIUS, RADIUS, SIDE, SIDE, 1.0 };
    return f;
}

static relief_image render(const fixture *f, int threads)
{
    relief_image image = { 0 };
    npmd_error err = { 0 };
    assert_int_equal(relief_render(&f->scene, &f->view, &f->window, threads, &image, &err), NPMD_OK);
    return image;
}

static const unsigned char *pixel(const relief_image *image, int x, int y)
{
    return image->rgba + 4 * (y * image->width + x);
}

static void a_view_is_orthonormal(void **state)
{
    (void)state;
    const double toward[3] = { -2.0, 1.0, 0.5 }, up[3] = { 0.0, 0.0, 3.0 };
    const relief_view v = relief_view_make(toward, up);
    const double *vector[3] = { v.right, v.up, v.toward };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double product = 0.0;
            for (int k = 0; k < 3; k++)
                product += vector[i][k] * vector[j][k];
            assert_true(fabs(product - (i == j ? 1.0 : 0.0)) < 4e-16); /* a few roundings of numbers below 1 */
        }
    assert_true(v.up[2] > 0.0);
    /* right = up x toward: seen from -x with z up, +y lies to the left */
    const double left_side[3] = { -1.0, 0.0, 0.0 }, z[3] = { 0.0, 0.0, 1.0 };
    assert_true(relief_view_make(left_side, z).right[1] == -1.0);
}

/* The shadow of a unit sphere of radius R pixels has area pi R^2. Chords of the polyhedron's outline are at most e =
 * 0.16 long (level 3), so that it lacks at most e^2 / 8 = 0.0032 of the radius, 0.0064 of the area; samples find the
 * area of a convex shape to a third of a pixel along its edge at the very worst, 2 pi R / 3 in all, and by chance far
 * better: a hundredth of the area is allowed. */
static void the_silhouette_of_a_sphere_has_its_area(void **state)
{
    (void)state;
    fixture f = fixture_open(3);
    relief_image image = render(&f, 1);
    double area = 0.0;
    for (int i = 0; i < SIDE * SIDE; i++)
        area += image.rgba[4 * i + 3] / 255.0;
    const double disc = NPMD_PI * RADIUS * RADIUS;
    assert_true(fabs(area - disc) < 0.01 * disc);
    assert_int_equal(pixel(&image, 0, 0)[3], 0);
    assert_int_equal(pixel(&image, SIDE / 2, SIDE / 2)[3], 255);
    relief_image_free(&image);
    icosphere_free(&f.ball);
}

/* Value 1 at the nearest vertex and 0 elsewhere, on a scale from blue to red: the middle of the picture is red. */
static void a_vertex_has_the_colour_of_its_value(void **state)
{
    (void)state;
    const shade how = { .map = MAP_BALANCED, .scale = { AXIS_LINEAR, 0.0, 1.0, NULL } };
    fixture f = fixture_open(1);
    double *value = doubles(f.ball.vertices);
    size_t nearest = 0;
    for (size_t i = 0; i < f.ball.vertices; i++)
        if (f.ball.x[3 * i + 2] > f.ball.x[3 * nearest + 2])
            nearest = i;
    value[nearest] = 1.0;
    f.scene.value = value;
    f.scene.how = &how;
    relief_image image = render(&f, 1);
    const int x = (int)(SIDE / 2 + RADIUS * f.ball.x[3 * nearest]);
    const int y = (int)(SIDE / 2 - RADIUS * f.ball.x[3 * nearest + 1]);
    assert_true(pixel(&image, x, y)[0] > 2 * pixel(&image, x, y)[2]);
    assert_true(pixel(&image, SIDE / 2, SIDE / 2 + 45)[2] > 2 * pixel(&image, SIDE / 2, SIDE / 2 + 45)[0]);
    relief_image_free(&image);

    for (size_t i = 0; i < f.ball.vertices; i++) /* what has no value has the colour of the ground */
        value[i] = NAN;
    image = render(&f, 1);
    assert_int_equal(pixel(&image, x, y)[0], pixel(&image, x, y)[2]);
    relief_image_free(&image);
    free(value);
    icosphere_free(&f.ball);
}

/* The middle of the sphere, all of one value, has the colour of the bar at that value to within an eighth: where it
 * faces the eye it gets 0.34 + 0.66 x 1.06 x 0.87 = 0.95 of the full light (on the faces of so coarse a ball a little
 * less), and the byte of a colour falls more slowly. */
static void on_a_log_scale_equal_ratios_are_equal_steps(void **state)
{
    (void)state;
    const shade how = { .map = MAP_BALANCED, .scale = { AXIS_LOG, 0.01, 100.0, NULL } };
    fixture f = fixture_open(1);
    double *value = doubles(f.ball.vertices);
    const double shown[4] = { 0.0, 0.01, 1.0, 100.0 }, t[4] = { 0.0, 0.0, 0.5, 1.0 };
    f.scene.value = value;
    f.scene.how = &how;
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < f.ball.vertices; i++)
            value[i] = shown[k];
        relief_image image = render(&f, 1);
        const colour wanted = map_colour(MAP_BALANCED, t[k]);
        const unsigned char *found = pixel(&image, SIDE / 2, SIDE / 2),
                            bytes[3] = { wanted.red, wanted.green, wanted.blue };
        for (int c = 0; c < 3; c++)
            assert_true(found[c] <= bytes[c] && found[c] >= 0.875 * bytes[c] - 1.0);
        relief_image_free(&image);
    }
    free(value);
    icosphere_free(&f.ball);
}

/* Of two points above each other the one in front is seen, the one behind the sphere is not; through a translucent
 * sphere it shines. */
static void a_point_behind_the_sphere_is_hidden(void **state)
{
    (void)state;
    const double front[3] = { 0.3, 0.2, 0.94 }, behind[3] = { -0.3, 0.2, -0.94 };
    relief_points sets[2] = { { .count = 1, .x = front, .ink = BLACK, .edge = RED, .radius = 3.0, .rim = 1.0 },
                              { .count = 1, .x = behind, .ink = BLACK, .edge = RED, .radius = 3.0, .rim = 1.0 } };
    fixture f = fixture_open(3);
    f.scene.points = sets;
    f.scene.point_sets = 2;
    relief_image image = render(&f, 1);
    assert_int_equal(pixel(&image, 75, 50)[0], 0);   /* its disc */
    assert_int_equal(pixel(&image, 75, 53)[0], 220); /* its edge */
    assert_true(pixel(&image, 45, 50)[0] > 150);
    relief_image_free(&image);
    f.scene.opacity = 0.3;
    image = render(&f, 1);
    const int through = pixel(&image, 45, 50)[0];
    assert_true(through > 20 && through < 150);
    relief_image_free(&image);
    icosphere_free(&f.ball);
}

/* The great circle x = 0 around the sphere: its front half is a vertical line of 3 pixels through the middle. */
static void a_line_on_the_surface_is_drawn_over_it(void **state)
{
    (void)state;
    enum { STEPS = 64 };
    static double x[STEPS][2][3];
    for (int i = 0; i < STEPS; i++)
        for (int end = 0; end < 2; end++) {
            const double t = TWO_PI * (i + end) / STEPS;
            x[i][end][0] = 0.0, x[i][end][1] = cos(t), x[i][end][2] = sin(t);
        }
    const relief_lines line = { .segments = STEPS, .x = &x[0][0][0], .ink = BLACK, .thickness = 3.0 };
    fixture f = fixture_open(3);
    f.scene.lines = &line;
    f.scene.line_sets = 1;
    relief_image image = render(&f, 1);
    for (int y = 20; y < 100; y++) {
        assert_true(pixel(&image, SIDE / 2, y)[0] < 10);
        assert_true(pixel(&image, SIDE / 2 + 4, y)[0] > 100);
    }
    relief_image_free(&image);
    icosphere_free(&f.ball);
}

static void bytes_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    const shade how = { .map = MAP_RISING, .scale = { AXIS_LINEAR, -1.0, 1.0, NULL } };
    fixture f = fixture_open(2);
    const relief_points points = {
        .count = f.ball.vertices, .x = f.ball.x, .ink = BLACK, .edge = GREY, .radius = 1.5, .rim = 0.5
    };
    double *value = doubles(f.ball.vertices);
    for (size_t i = 0; i < f.ball.vertices; i++)
        value[i] = f.ball.x[3 * i];
    f.scene.value = value;
    f.scene.how = &how;
    f.scene.points = &points;
    f.scene.point_sets = 1;
    relief_image one = render(&f, 1), seven = render(&f, 7);
    assert_memory_equal(one.rgba, seven.rgba, 4 * SIDE * SIDE);
    relief_image_free(&one);
    relief_image_free(&seven);
    free(value);
    icosphere_free(&f.ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_orthonormal),
        cmocka_unit_test(the_silhouette_of_a_sphere_has_its_area),
        cmocka_unit_test(a_vertex_has_the_colour_of_its_value),
        cmocka_unit_test(on_a_log_scale_equal_ratios_are_equal_steps),
        cmocka_unit_test(a_point_behind_the_sphere_is_hidden),
        cmocka_unit_test(a_line_on_the_surface_is_drawn_over_it),
        cmocka_unit_test(bytes_do_not_depend_on_the_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
