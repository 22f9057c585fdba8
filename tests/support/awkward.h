/* awkward.h - doubles that a careless text format would lose. */
#ifndef NPMD_TEST_AWKWARD_H
#define NPMD_TEST_AWKWARD_H

static const double AWKWARD[] = {
    0.1,
    -0.0,
    1.0 / 3.0,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    -3.141592653589793,
    123456789.125,
    1e22,
    9007199254740992.0,
    -1e-7,
    6.02214076e23,
};
#define AWKWARD_COUNT (sizeof AWKWARD / sizeof AWKWARD[0])

#endif
