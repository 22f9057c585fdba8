/* layout.c - how the structs of the public header lie in memory, for bindings: sizes, offsets and types are the compiler's
 * own, names are written here once, in the order of the header. A test looks for gaps, where a field was forgotten. */
#include "neuropmd.h"

#define OF(s, m) ((s *)0)->m
/* An enumeration is an int or unsigned; an array decays to a pointer to what is not const. */
#define TYPE(value)                                                                                          \
    _Generic((value),                                                                                        \
        int: "int",                                                                                          \
        long: "int",                                                                                         \
        long long: "int",                                                                                    \
        unsigned: "unsigned",                                                                                \
        unsigned long: "unsigned",                                                                           \
        unsigned long long: "unsigned",                                                                      \
        double: "double",                                                                                    \
        char *: "chars",                                                                                     \
        int *: "ints",                                                                                       \
        size_t *: "sizes",                                                                                   \
        const char *: "text",                                                                                \
        npmd_compute: "npmd_compute",                                                                        \
        default: "other")
/* clang-format off */
#define STRUCT(s) { #s, "", "struct", 0, sizeof(s) }
#define FIELD(s, m) { #s, #m, TYPE(OF(s, m)), offsetof(s, m), sizeof(OF(s, m)) }

#define ERROR(m) FIELD(npmd_error, m)
#define OPTION(m) FIELD(npmd_option_text, m)
#define REPORT(m) FIELD(npmd_report, m)
#define FACTS(m) FIELD(npmd_fit_facts, m)
#define PART(m) FIELD(npmd_part, m)
#define ROW(m) FIELD(npmd_choice_row, m)
#define CHOICE(m) FIELD(npmd_choice, m)
#define COMPUTE(m) FIELD(npmd_compute, m)
#define SAMPLE(m) FIELD(npmd_sample_facts, m)
#define PROBABILITY(m) FIELD(npmd_probability, m)
#define SCORE(m) FIELD(npmd_score, m)
#define COMPARISON(m) FIELD(npmd_comparison, m)
#define SURFACES(m) FIELD(npmd_surface_options, m)
#define ENDS(m) FIELD(npmd_endpoints_request, m)
#define FOUND(m) FIELD(npmd_endpoints, m)
#define PLOT(m) FIELD(npmd_plot_request, m)
#define DRAWN(m) FIELD(npmd_plot_facts, m)
#define VIEW(m) FIELD(npmd_view_request, m)
#define SHOWN(m) FIELD(npmd_view_facts, m)

static const npmd_field_text FIELDS[] = {
    STRUCT(npmd_error), ERROR(status), ERROR(text),
    STRUCT(npmd_surface_options), SURFACES(elements), SURFACES(max_frequency), SURFACES(frequency), SURFACES(frequencies), SURFACES(cache), SURFACES(progress), SURFACES(user),
    STRUCT(npmd_report), REPORT(step), REPORT(steps), REPORT(attempt), REPORT(member), REPORT(members),
    REPORT(part), REPORT(logged), REPORT(epoch), REPORT(seconds), REPORT(rate), REPORT(data), REPORT(integral),
    REPORT(penalty), REPORT(objective), REPORT(log_integral), REPORT(nise), REPORT(ae), REPORT(ise),
    REPORT(ise_se), REPORT(snr_a), REPORT(snr_b), REPORT(snr_c),
    STRUCT(npmd_option_text), OPTION(name), OPTION(values), OPTION(fallback), OPTION(help), OPTION(group),
    OPTION(estimators),
    STRUCT(npmd_fit_facts), FACTS(n), FACTS(tau), FACTS(seed), FACTS(steps), FACTS(seconds), FACTS(objective),
    FACTS(log_integral), FACTS(log_integral_se), FACTS(convex_optimum), FACTS(convex_gap),
    FACTS(convex_gap_accuracy), FACTS(restarts), FACTS(members), FACTS(interrupted), FACTS(stopped),
    FACTS(kept_step), FACTS(resumed), FACTS(checkpoint_failure), FACTS(working_bytes),
    STRUCT(npmd_part), PART(name), PART(members), PART(weight), PART(held_out_nll), PART(held_out_nll_se),
    STRUCT(npmd_choice_row), ROW(stage), ROW(steps), ROW(tau), ROW(criterion), ROW(criterion_se),
    ROW(difference), ROW(difference_se), ROW(kept), ROW(settings),
    STRUCT(npmd_choice), CHOICE(criterion), CHOICE(training), CHOICE(held_out), CHOICE(rows), CHOICE(row),
    STRUCT(npmd_compute), COMPUTE(threads), COMPUTE(device),
    STRUCT(npmd_sample_facts), SAMPLE(proposed), SAMPLE(acceptance), SAMPLE(raised),
    STRUCT(npmd_probability), PROBABILITY(share), PROBABILITY(probability), PROBABILITY(se), PROBABILITY(low),
    PROBABILITY(high), PROBABILITY(members),
    STRUCT(npmd_score), SCORE(n), SCORE(log_integral), SCORE(log_integral_se), SCORE(nll), SCORE(nll_se),
    SCORE(ise_criterion), SCORE(ise_criterion_se), SCORE(ise_criterion_relative), SCORE(training_rows),
    STRUCT(npmd_comparison), COMPARISON(nise), COMPARISON(ae), COMPARISON(fr), COMPARISON(fr2), COMPARISON(kl),
    COMPARISON(nise_undivided), COMPARISON(nise_se), COMPARISON(ae_se), COMPARISON(fr_se), COMPARISON(fr2_se),
    COMPARISON(kl_se), COMPARISON(points),
    STRUCT(npmd_endpoints_request), ENDS(tracks), ENDS(weights), ENDS(files), ENDS(surface), ENDS(sphere),
    ENDS(max_distance), ENDS(pairs), ENDS(affine), ENDS(transform), ENDS(space), ENDS(threads),
    STRUCT(npmd_endpoints), FOUND(streamlines), FOUND(dropped), FOUND(count), FOUND(x), FOUND(weight),
    FOUND(turned), FOUND(distance_median), FOUND(distance_max),
    STRUCT(npmd_plot_request), PLOT(model), PLOT(name), PLOT(models), PLOT(file), PLOT(files), PLOT(truth), PLOT(data),
    PLOT(kind), PLOT(title), PLOT(what), PLOT(log_scale), PLOT(level), PLOT(levels), PLOT(factors), PLOT(given),
    PLOT(at), PLOT(range), PLOT(ranges), PLOT(coords), PLOT(grid), PLOT(width_mm), PLOT(dpi), PLOT(how), PLOT(seed),
    PLOT(surfaces), PLOT(progress), PLOT(user),
    STRUCT(npmd_plot_facts), DRAWN(kind), DRAWN(panels), DRAWN(low), DRAWN(high), DRAWN(width_mm), DRAWN(height_mm),
    DRAWN(mass_error), DRAWN(data),
    STRUCT(npmd_view_request), VIEW(title), VIEW(name), VIEW(factors), VIEW(nodes), VIEW(coords), VIEW(data),
    VIEW(most_points), VIEW(surface), VIEW(sphere), VIEW(accuracy), VIEW(seed), VIEW(how), VIEW(progress), VIEW(user),
    STRUCT(npmd_view_facts), SHOWN(factors), SHOWN(factor), SHOWN(nodes), SHOWN(points), SHOWN(points_shown),
    SHOWN(level_error), SHOWN(mass), SHOWN(sum_error), SHOWN(compared), SHOWN(bytes),
};
/* clang-format on */
#define FIELD_TOTAL ((int)(sizeof FIELDS / sizeof *FIELDS))

int npmd_field_count(void)
{
    return FIELD_TOTAL;
}

npmd_field_text npmd_field_describe(int i)
{
    return i >= 0 && i < FIELD_TOTAL ? FIELDS[i] : (npmd_field_text){ 0 };
}
