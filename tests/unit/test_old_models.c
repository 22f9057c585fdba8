/* test_old_models.c - models of version 0.1.0 stay readable: one of each kind, as that version wrote it (tests/old), says
 * today what it said then.
 *
 * The densities are compared by the reference device, in double precision. On the machine that wrote them they are equal
 * to the last bit. Elsewhere the C library's exp, sin and log may differ in the last digit and products may be fused: a
 * log density is a sum of fewer than 200 terms, none above 100, each right to four roundings, which is 9e-12 in all. */
#include "check.h"
#include "io.h"
#include "models.h"

#define BOUND 1e-11
#define FOLDER "tests/old/"

typedef struct old_facts {
    char name[64];
    double tau, log_integral, log_integral_se;
} old_facts;

static npmd_model *model_read(const char *name)
{
    char path[256];
    npmd_error err = { 0 };
    npmd_model *m = NULL;
    snprintf(path, sizeof path, FOLDER "%s.safetensors", name);
    must(npmd_load(path, &m, &err), &err);
    return m;
}

static double largest_difference(const npmd_model *m, const table *t)
{
    npmd_error err = { 0 };
    npmd_points *pts = NULL;
    const npmd_domain *dom = npmd_model_domain(m);
    const size_t columns = (size_t)npmd_domain_columns(dom);
    double *x = doubles(t->rows * columns), worst = 0.0;
    assert_int_equal(t->columns, columns + 1);
    for (size_t i = 0; i < t->rows; i++)
        memcpy(x + i * columns, t->data + i * t->columns, columns * sizeof *x);
    must(npmd_points_from(x, t->rows, columns, dom, NPMD_COORDS_DEFAULT, &pts, &err), &err);
    double *now = models_values(m, pts, NPMD_LOG_DENSITY, &EXACT);
    for (size_t i = 0; i < t->rows; i++) {
        const double apart = fabs(now[i] - t->data[i * t->columns + columns]);
        worst = apart <= worst ? worst : apart; /* NaN, too */
    }
    npmd_points_free(pts);
    free(now);
    free(x);
    return worst;
}

/* What was read is written, and read again, as the same model. */
static void says_the_same_again(const npmd_model *m, const table *t, double first)
{
    npmd_error err = { 0 };
    npmd_model *again = NULL;
    char *bytes = NULL;
    size_t size = 0;
    must(npmd_model_pack(m, &bytes, &size, &err), &err);
    must(npmd_model_unpack(bytes, size, &again, &err), &err);
    assert_true(largest_difference(again, t) == first);
    npmd_text_free(bytes);
    npmd_model_free(again);
}

static void check_model(const old_facts *was)
{
    char path[256], *text = NULL;
    npmd_error err = { 0 };
    npmd_fit_facts now = NPMD_SIZED(npmd_fit_facts);
    table t = { 0 };
    npmd_model *m = model_read(was->name);
    snprintf(path, sizeof path, FOLDER "%s.csv", was->name);
    must(table_read(path, &t, &err), &err);
    must(npmd_model_facts(m, &now, &err), &err);
    assert_true(now.tau == was->tau && now.log_integral == was->log_integral
                && now.log_integral_se == was->log_integral_se);
    must(npmd_model_describe(m, &text, &err), &err);
    assert_non_null(strstr(text, "0.1.0"));
    const double worst = largest_difference(m, &t);
    check_below(was->name, worst, BOUND);
    says_the_same_again(m, &t, worst);
    npmd_text_free(text);
    table_free(&t);
    npmd_model_free(m);
}

static void every_kind_says_what_it_said(void **state)
{
    (void)state;
    char line[256];
    int count = 0;
    FILE *f = fopen(FOLDER "facts.csv", "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f)); /* the names of the columns */
    for (; fgets(line, sizeof line, f) != NULL; count++) {
        old_facts was;
        if (sscanf(line, "%63[^,],%lf,%lf,%lf", was.name, &was.tau, &was.log_integral, &was.log_integral_se) != 4)
            fail_msg("facts.csv: '%s'", line);
        check_model(&was);
    }
    fclose(f);
    assert_int_equal(count, 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_kind_says_what_it_said) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
