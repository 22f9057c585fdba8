/* must_fail.c - a test that fails on purpose: a harness in which it passes notices nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void one_is_not_two(void **state)
{
    (void)state;
    assert_int_equal(1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_is_not_two) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
