/* fuzz_safetensors.c - named arrays. Every byte of every tensor can be touched, and no name occurs twice. */
#include "fuzz.h"
#include "io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    record rec = { 0 };
    npmd_error err = { 0 };
    const tensor *found = NULL;
    const npmd_status st = record_read(fuzz_record(data, size), &rec, &err);
    PROMISE(st == NPMD_OK || (st == NPMD_ERR_FORMAT && err.text[0] != 0 && rec.tensors == NULL));
    for (size_t i = 0; i < rec.count; i++) {
        const tensor *t = &rec.tensors[i];
        size_t bytes = t->type == TENSOR_F64 || t->type == TENSOR_I64 ? 8 : 4;
        for (int d = 0; d < t->dimensions; d++)
            bytes *= t->shape[d];
        volatile uint8_t last = 0; /* volatile: each byte is read, though nothing comes of it */
        for (size_t k = 0; k < bytes; k++)
            last = ((const uint8_t *)t->data)[k];
        (void)last;
        PROMISE(record_find(&rec, "", t->name, t->type, t->dimensions, t->shape, &found, &err) == NPMD_OK);
        PROMISE(found == t);
    }
    record_free(&rec);
    return 0;
}
