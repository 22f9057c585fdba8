/* choice.c - the evidence of a choice: fits to a part of the points, compared on the points held out from them.
 *
 * Every estimator that chooses may keep its rows here. They travel with the model and, since a resumed fit must end in
 * the same bytes, with its checkpoint, as
 *     {"criterion": "ise", "training": 9000, "held_out": 1000,
 *      "rows": [{"stage": 1, "steps": 120, "tau": 5e-5, "criterion": -9.1, "criterion_se": 0.2, "difference": 0.01,
 *                "difference_se": 0.02, "kept": true, "settings": ""}, ...],
 *      "rivals": [{"estimator": "series", "nll": 1.31, "nll_se": 0.01, "difference": 0.03, "difference_se": 0.004}, ...]}
 * with null for what is not known. */
#include "model.h"

#include <stdio.h>

#define MOST_ROWS 4096 /* of a file */

void choice_close(choice_record *c)
{
    memory_free(c->row);
    memory_free(c->log_density);
    *c = (choice_record){ 0 };
}

npmd_status choice_add(choice_record *c, const choice_row *row, npmd_error *err)
{
    const npmd_status st = memory_grow((void **)&c->row, &c->room, (size_t)c->rows + 1, sizeof *row, err);
    if (st == NPMD_OK)
        c->row[c->rows++] = *row;
    return st;
}

static npmd_status row_to_json(const choice_row *row, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    TRY(json_put(into, "stage", json_integer(row->stage), err));
    TRY(json_put(into, "steps", json_integer(row->steps), err));
    TRY(json_put(into, "tau", json_known(row->tau), err));
    TRY(json_put(into, "criterion", json_known(row->criterion), err));
    TRY(json_put(into, "criterion_se", json_known(row->criterion_se), err));
    TRY(json_put(into, "difference", json_known(row->difference), err));
    TRY(json_put(into, "difference_se", json_known(row->difference_se), err));
    TRY(json_put(into, "kept", json_boolean(row->kept), err));
    TRY(json_put(into, "settings", json_string(row->settings), err));
done:
    return st;
}

static npmd_status rivals_to_json(const choice_record *c, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *list = json_array();
    for (int i = 0; i < c->rivals && st == NPMD_OK; i++) {
        const choice_rival *r = &c->rival[i];
        json_t *one = json_object();
        TRY(json_append(list, one, err)); /* owned by the list */
        TRY(json_put(one, "estimator", json_string(r->estimator), err));
        TRY(json_put(one, "nll", json_known(r->nll), err));
        TRY(json_put(one, "nll_se", json_known(r->nll_se), err));
        TRY(json_put(one, "difference", json_known(r->difference), err));
        TRY(json_put(one, "difference_se", json_known(r->difference_se), err));
    }
    TRY(json_put(into, "rivals", json_incref(list), err));
done:
    json_decref(list);
    return st;
}

npmd_status choice_to_json(const choice_record *c, json_t *into, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    json_t *object = NULL, *rows = NULL, *row = NULL;
    if (c->rows == 0 && c->rivals == 0)
        return NPMD_OK;
    object = json_object();
    rows = json_array();
    TRY(json_put(object, "criterion", json_string(option_find("criterion")->choice[c->criterion]), err));
    TRY(json_put(object, "training", json_integer((json_int_t)c->training), err));
    TRY(json_put(object, "held_out", json_integer((json_int_t)c->held_out), err));
    for (int i = 0; i < c->rows; i++) {
        row = json_object();
        TRY(json_append(rows, json_incref(row), err));
        TRY(row_to_json(&c->row[i], row, err));
        json_decref(row);
        row = NULL;
    }
    TRY(json_put(object, "rows", json_incref(rows), err));
    if (c->rivals > 0)
        TRY(rivals_to_json(c, object, err));
    TRY(json_put(into, "choice", json_incref(object), err));
done:
    json_decref(row);
    json_decref(rows);
    json_decref(object);
    return st;
}

static double number_of(const json_t *row, const char *key) /* NaN: null, or nothing */
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool row_from_json(const json_t *in, choice_row *row)
{
    const json_int_t stage = json_integer_value(json_object_get(in, "stage")),
                     steps = json_integer_value(json_object_get(in, "steps"));
    const char *words = json_string_value(json_object_get(in, "settings"));
    *row = (choice_row){ .stage = (int)stage,
                         .steps = steps,
                         .tau = number_of(in, "tau"),
                         .criterion = number_of(in, "criterion"),
                         .criterion_se = number_of(in, "criterion_se"),
                         .difference = number_of(in, "difference"),
                         .difference_se = number_of(in, "difference_se"),
                         .kept = json_is_true(json_object_get(in, "kept")) };
    if (stage < 1 || stage > 1000 || steps < 0 || words == NULL || strlen(words) >= sizeof row->settings)
        return false;
    snprintf(row->settings, sizeof row->settings, "%s", words);
    return true;
}

static bool rival_from_json(const json_t *in, choice_rival *r)
{
    const char *name = json_string_value(json_object_get(in, "estimator"));
    if (name == NULL || strlen(name) >= sizeof r->estimator)
        return false;
    *r = (choice_rival){ .nll = number_of(in, "nll"),
                         .nll_se = number_of(in, "nll_se"),
                         .difference = number_of(in, "difference"),
                         .difference_se = number_of(in, "difference_se") };
    snprintf(r->estimator, sizeof r->estimator, "%s", name);
    return true;
}

npmd_status choice_from_json(choice_record *c, const json_t *root, const char *path, npmd_error *err)
{
    npmd_status st = NPMD_OK;
    const json_t *in = json_object_get(root, "choice");
    if (in == NULL) /* nothing was chosen, or the file is from before */
        return NPMD_OK;
    const char *criterion = json_string_value(json_object_get(in, "criterion"));
    const json_t *rows = json_object_get(in, "rows"), *rivals = json_object_get(in, "rivals");
    const json_int_t training = json_integer_value(json_object_get(in, "training")),
                     held_out = json_integer_value(json_object_get(in, "held_out"));
    bool sound = criterion != NULL && training >= 0 && held_out >= 0 && json_array_size(rows) <= MOST_ROWS;
    c->criterion = -1;
    const char *const *criteria = option_find("criterion")->choice;
    for (int i = 0; sound && criteria[i] != NULL; i++)
        if (strcmp(criterion, criteria[i]) == 0)
            c->criterion = i;
    sound = sound && c->criterion >= 0;
    for (size_t i = 0; sound && i < json_array_size(rows); i++) {
        choice_row row;
        sound = row_from_json(json_array_get(rows, i), &row);
        if (sound)
            TRY(choice_add(c, &row, err));
    }
    sound = sound && json_array_size(rivals) <= CHOICE_RIVALS;
    for (size_t i = 0; sound && i < json_array_size(rivals); i++)
        sound = rival_from_json(json_array_get(rivals, i), &c->rival[c->rivals++]);
    if (!sound) {
        st = npmd_fail(err, NPMD_ERR_FORMAT, "%s: what it says of its choice makes no sense", path);
        goto done;
    }
    c->training = (size_t)training;
    c->held_out = (size_t)held_out;
done:
    if (st != NPMD_OK)
        choice_close(c);
    return st;
}
