/* letters.c - the letters of a .png: strokes with integer coordinates, capitals 28 units high, small letters 20, for
 * every size and direction. Raised and lowered signs are the same drawings, smaller. */
#include "raster.h"

#define CAPITAL 28    /* units in the height of a capital */
#define GAP 6         /* units between letters */
#define ARC_STEP 15.0 /* degrees; at 20 pixels the chord is within 1/20 of a pixel of the arc */
#define THIN 0.075    /* thickness of a stroke, in font sizes */
#define THICK 0.115

/* A drawing: "m x y" moves the pen, "l x y ..." draws lines to the points, "a x y rx ry from to" an arc of an ellipse
 * (degrees, counterclockwise when they increase), which moves the pen to its start and draws to its end. y runs up from
 * the baseline. */
typedef struct glyph {
    uint32_t code; /* Unicode */
    int width;
    const char *drawing;
} glyph;

static const glyph GLYPHS[] = {
    { '?', 16, "a8 21 7 7 170 -60 l8 12 8 9 m8 0 l8 1" }, /* first: it stands for what is not here */
    { ' ', 5, "" },
    { '0', 18, "a9 14 8 14 0 360" },
    { '1', 18, "m4 22 l11 28 11 0" },
    { '2', 18, "a9 20 8 8 170 -38 l1 0 17 0" },
    { '3', 18, "a8 21 7 7 150 -90 a8 7 9 7 90 -150" },
    { '4', 18, "m13 0 l13 28 0 8 18 8" },
    { '5', 18, "m15 28 l4 28 3 15 a9 9 8 9 138 -150" },
    { '6', 18, "a9 9 8 9 0 360 a15 9 14 19 180 95" },
    { '7', 18, "m1 28 l17 28 6 0" },
    { '8', 18, "a9 21 7 7 0 360 a9 7 8 7 0 360" },
    { '9', 18, "a9 19 8 9 0 360 a3 19 14 19 0 -85" },
    { 'A', 20, "m0 0 l10 28 20 0 m4 10 l16 10" },
    { 'B', 18, "m2 0 l2 28 9 28 a9 21 7 7 90 -90 l2 14 m9 14 a9 7 9 7 90 -90 l2 0" },
    { 'C', 21, "a12 14 11 14 48 312" },
    { 'D', 21, "m2 0 l2 28 8 28 a8 14 12 14 90 -90 l2 0" },
    { 'E', 16, "m16 28 l2 28 2 0 16 0 m2 14 l14 14" },
    { 'F', 15, "m15 28 l2 28 2 0 m2 14 l13 14" },
    { 'G', 23, "a12 14 11 14 48 355 m14 13 l23 13" },
    { 'H', 20, "m2 0 l2 28 m18 0 l18 28 m2 14 l18 14" },
    { 'I', 4, "m2 0 l2 28" },
    { 'J', 15, "m13 28 l13 8 a7 8 6 8 0 -165" },
    { 'K', 18, "m2 0 l2 28 m17 28 l2 11 m8 17 l18 0" },
    { 'L', 15, "m2 28 l2 0 15 0" },
    { 'M', 24, "m2 0 l2 28 12 6 22 28 22 0" },
    { 'N', 20, "m2 0 l2 28 18 0 18 28" },
    { 'O', 26, "a13 14 12 14 0 360" },
    { 'P', 18, "m2 0 l2 28 9 28 a9 20 8 8 90 -90 l2 12" },
    { 'Q', 26, "a13 14 12 14 0 360 m16 7 l24 -2" },
    { 'R', 18, "m2 0 l2 28 9 28 a9 20 8 8 90 -90 l2 12 m9 12 l18 0" },
    { 'S', 18, "a9 21 7 7 35 270 a9 7 8 7 90 -150" },
    { 'T', 18, "m0 28 l18 28 m9 28 l9 0" },
    { 'U', 20, "m2 28 l2 9 a10 9 8 9 180 360 l18 28" },
    { 'V', 20, "m0 28 l10 0 20 28" },
    { 'W', 28, "m0 28 l7 0 14 24 21 0 28 28" },
    { 'X', 18, "m1 28 l17 0 m17 28 l1 0" },
    { 'Y', 18, "m0 28 l9 13 18 28 m9 13 l9 0" },
    { 'Z', 18, "m1 28 l17 28 1 0 17 0" },
    { 'a', 18, "a9 10 8 10 0 360 m17 20 l17 0" },
    { 'b', 18, "m1 28 l1 0 m1 10 a9 10 8 10 180 540" },
    { 'c', 16, "a10 10 9 10 48 312" },
    { 'd', 18, "m17 28 l17 0 a9 10 8 10 0 360" },
    { 'e', 18, "m1 10 l17 10 a9 10 8 10 0 312" },
    { 'f', 11, "a11 22 6 6 80 180 l5 0 m0 19 l11 19" },
    { 'g', 18, "a9 10 8 10 0 360 m17 20 l17 -1 a9 -1 8 7 0 -150" },
    { 'h', 18, "m2 28 l2 0 m2 12 a9 12 7 8 180 0 l16 0" },
    { 'i', 4, "m2 20 l2 0 m2 27 l2 28" },
    { 'j', 6, "m4 20 l4 -3 a-1 -3 5 5 0 -90 m4 27 l4 28" },
    { 'k', 15, "m2 28 l2 0 m14 20 l2 8 m7 13 l15 0" },
    { 'l', 4, "m2 28 l2 0" },
    { 'm', 28, "m2 20 l2 0 m2 13 a8 13 6 7 180 0 l14 0 m14 13 a20 13 6 7 180 0 l26 0" },
    { 'n', 18, "m2 20 l2 0 m2 12 a9 12 7 8 180 0 l16 0" },
    { 'o', 20, "a10 10 9 10 0 360" },
    { 'p', 18, "m1 20 l1 -8 m1 10 a9 10 8 10 180 540" },
    { 'q', 18, "m17 20 l17 -8 a9 10 8 10 0 360" },
    { 'r', 11, "m2 20 l2 0 m2 11 a10 11 8 9 180 78" },
    { 's', 15, "a8 15 6 5 40 270 a8 5 7 5 90 -145" },
    { 't', 11, "m5 26 l5 5 a10 5 5 5 180 280 m0 20 l11 20" },
    { 'u', 18, "m2 20 l2 8 a9 8 7 8 180 360 m16 20 l16 0" },
    { 'v', 18, "m1 20 l9 0 17 20" },
    { 'w', 24, "m0 20 l6 0 12 17 18 0 24 20" },
    { 'x', 16, "m1 20 l15 0 m15 20 l1 0" },
    { 'y', 18, "m1 20 l9 0 m17 20 l6 -8" },
    { 'z', 15, "m1 20 l14 20 1 0 14 0" },
    { '.', 4, "m2 0 l2 1" },
    { ',', 5, "m3 1 l1 -5" },
    { ':', 4, "m2 1 l2 2 m2 17 l2 18" },
    { ';', 5, "m3 2 l1 -4 m3 17 l3 18" },
    { '!', 4, "m2 28 l2 9 m2 0 l2 1" },
    { '\'', 3, "m2 28 l2 21" },
    { '"', 8, "m2 28 l2 21 m7 28 l7 21" },
    { '-', 12, "m1 11 l11 11" },
    { '_', 16, "m0 -4 l16 -4" },
    { '+', 20, "m2 12 l18 12 m10 4 l10 20" },
    { '=', 20, "m2 8 l18 8 m2 16 l18 16" },
    { '<', 18, "m16 20 l2 12 16 4" },
    { '>', 18, "m2 20 l16 12 2 4" },
    { '*', 14, "m7 28 l7 16 m2 25 l12 19 m12 25 l2 19" },
    { '/', 12, "m0 -4 l12 31" },
    { '%', 26, "a6 22 5 6 0 360 a20 6 5 6 0 360 m22 28 l4 0" },
    { '(', 8, "a14 13 12 19 130 230" },
    { ')', 8, "a-6 13 12 19 50 -50" },
    { '[', 8, "m8 31 l2 31 2 -5 8 -5" },
    { ']', 8, "m0 31 l6 31 6 -5 0 -5" },
    { '|', 4, "m2 31 l2 -5" },
    { '^', 14, "m1 20 l7 28 13 20" },
    { '#', 20, "m7 28 l4 0 m16 28 l13 0 m1 19 l19 19 m1 9 l19 9" },
    { '$', 18, "a9 20 7 6 35 270 a9 8 8 6 90 -150 m9 31 l9 -3" },
    { '&', 23, "m22 0 l6 19 a10 22 5 6 217 -40 l5 13 a9 7 8 7 130 320 l21 13" },
    { '@', 30, "a15 10 6 7 0 360 m21 17 l21 6 a25 6 4 4 180 360 a15 11 14 15 -15 305" },
    { '\\', 12, "m12 -4 l0 31" },
    { '`', 6, "m1 28 l5 23" },
    { '{', 11, "a10 27 4 4 90 180 l6 17 a2 17 4 4 0 -90 m2 13 a2 9 4 4 90 0 l6 -1 a10 -1 4 4 180 270" },
    { '}', 11, "a1 27 4 4 90 0 l5 17 a9 17 4 4 180 270 m9 13 a9 9 4 4 90 180 l5 -1 a1 -1 4 4 0 -90" },
    { '~', 20, "a6 11 5 4 180 20 a14 13 5 4 200 360" },
    { 0x00B0, 10, "a5 24 4 4 0 360" },                                                       /* degree */
    { 0x00B1, 20, "m2 14 l18 14 m10 6 l10 22 m2 1 l18 1" },                                  /* plus or minus */
    { 0x00B7, 4, "m2 12 l2 13" },                                                            /* middle dot */
    { 0x00D7, 18, "m3 5 l15 17 m3 17 l15 5" },                                               /* times */
    { 0x0393, 15, "m15 28 l2 28 2 0" },                                                      /* Gamma */
    { 0x0394, 20, "m0 0 l10 28 20 0 0 0" },                                                  /* Delta */
    { 0x039B, 20, "m0 0 l10 28 20 0" },                                                      /* Lambda */
    { 0x03A3, 18, "m17 28 l1 28 10 14 1 0 17 0" },                                           /* Sigma */
    { 0x03A6, 24, "a12 14 11 9 0 360 m12 28 l12 0" },                                        /* Phi */
    { 0x03A9, 24, "m1 0 l8 0 m16 0 l23 0 m8 0 a12 16 11 12 248 -68 l16 0" },                 /* Omega */
    { 0x03B1, 20, "a9 10 8 10 35 325 m19 20 l15 6 a19 5 4 5 180 270" },                      /* alpha */
    { 0x03B2, 18, "m2 -8 l2 20 a8 21 6 7 180 -90 m7 14 a8 7 9 7 90 -140" },                  /* beta */
    { 0x03B3, 18, "m1 20 l9 2 17 20 m9 2 l9 -8" },                                           /* gamma */
    { 0x03B4, 18, "a9 9 8 9 0 360 m9 18 l4 24 a8 25 4 3 200 20" },                           /* delta */
    { 0x03B5, 15, "a8 15 6 5 40 270 a8 5 7 5 90 320" },                                      /* epsilon */
    { 0x03B7, 18, "m2 20 l2 0 m2 12 a9 12 7 8 180 0 l16 -8" },                               /* eta */
    { 0x03B8, 16, "a8 14 7 14 0 360 m1 14 l15 14" },                                         /* theta */
    { 0x03BA, 15, "m2 20 l2 0 m14 20 l2 8 m7 12 l15 0" },                                    /* kappa */
    { 0x03BB, 18, "m2 28 l5 28 17 0 m9 16 l1 0" },                                           /* lambda */
    { 0x03BC, 18, "m2 20 l2 -8 m2 8 a9 8 7 8 180 360 m16 20 l16 0" },                        /* mu */
    { 0x00B5, 18, "m2 20 l2 -8 m2 8 a9 8 7 8 180 360 m16 20 l16 0" },                        /* micro */
    { 0x03BE, 15, "m14 28 l5 26 a8 21 6 5 120 270 a8 8 7 8 90 270 a9 -4 4 4 90 -60" },       /* xi */
    { 0x03C0, 22, "a6 15 5 5 165 90 l22 20 m8 20 l7 8 5 0 m16 20 l16 4 a20 4 4 4 180 280" }, /* pi */
    { 0x03C1, 18, "m2 -8 l2 10 a10 10 8 10 180 -150" },                                      /* rho */
    { 0x03C3, 21, "a9 10 8 10 0 360 m9 20 l21 20" },                                         /* sigma */
    { 0x03C4, 18, "a5 15 4 5 165 90 l18 20 m10 20 l10 5 a14 5 4 5 180 280" },                /* tau */
    { 0x03C6, 24, "a12 10 11 10 0 360 m12 28 l12 -8" },                                      /* phi */
    { 0x03C7, 17, "m1 20 l16 -8 m16 20 l1 -8" },                                             /* chi */
    { 0x03C8, 24, "m1 20 l1 10 a12 10 11 10 180 360 l23 20 m12 28 l12 -8" },                 /* psi */
    { 0x03C9, 26, "a7 8 6 8 120 360 a19 8 6 8 180 420" },                                    /* omega */
    { 0x2013, 18, "m1 11 l17 11" },                                                          /* en dash */
    { 0x2014, 30, "m1 11 l29 11" },                                                          /* em dash */
    { 0x2019, 4, "m3 28 l1 21" },                                                            /* apostrophe */
    { 0x201C, 9, "m1 21 l3 28 m6 21 l8 28" },                                                /* quotes */
    { 0x201D, 9, "m3 28 l1 21 m8 28 l6 21" },
    { 0x2026, 22, "m3 0 l3 1 m11 0 l11 1 m19 0 l19 1" }, /* ellipsis */
    { 0x2032, 5, "m4 28 l1 20" },                        /* prime */
    { 0x2190, 26, "m1 11 l25 11 m8 18 l1 11 8 4" },      /* arrows */
    { 0x2192, 26, "m1 11 l25 11 m18 18 l25 11 18 4" },
    { 0x2202, 17, "a8 9 7 9 0 360 a4 13 11 15 340 470" },                                          /* partial */
    { 0x2207, 20, "m0 28 l20 28 10 0 0 28" },                                                      /* nabla */
    { 0x2208, 18, "m16 20 l11 20 a11 11 9 9 90 270 l16 2 m2 11 l16 11" },                          /* element of */
    { 0x2211, 20, "m18 30 l1 30 11 13 1 -4 18 -4" },                                               /* sum */
    { 0x2212, 20, "m2 12 l18 12" },                                                                /* minus */
    { 0x221A, 20, "m1 13 l4 14 8 0 14 30 20 30" },                                                 /* root */
    { 0x221E, 28, "a8 11 7 7 45 315 l19 16 a20 11 7 7 135 -135 l13 16" },                          /* infinity */
    { 0x222B, 14, "a12 28 4 5 40 180 l6 0 a2 0 4 5 0 -140" },                                      /* integral */
    { 0x2248, 20, "a6 6 5 4 180 20 a14 8 5 4 200 360 m1 14 a6 14 5 4 180 20 a14 16 5 4 200 360" }, /* about */
    { 0x2260, 20, "m2 8 l18 8 m2 16 l18 16 m14 22 l6 2" },                                         /* not equal */
    { 0x2264, 18, "m16 24 l2 15 16 7 m2 1 l16 1" },                                                /* at most */
    { 0x2265, 18, "m2 24 l16 15 2 7 m2 1 l16 1" },                                                 /* at least */
};
#define GLYPH_COUNT (sizeof GLYPHS / sizeof GLYPHS[0])

/* Signs that are others, raised or lowered and made smaller. */
#define SMALL 0.62
#define RAISED 14.0
#define LOWERED (-6.0)
typedef struct small_sign {
    uint32_t code, base;
    double shift; /* units */
} small_sign;
static const small_sign SMALLS[] = {
    { 0x00B9, '1', RAISED },  { 0x00B2, '2', RAISED },  { 0x00B3, '3', RAISED },  { 0x2070, '0', RAISED },
    { 0x2074, '4', RAISED },  { 0x2075, '5', RAISED },  { 0x2076, '6', RAISED },  { 0x2077, '7', RAISED },
    { 0x2078, '8', RAISED },  { 0x2079, '9', RAISED },  { 0x207A, '+', RAISED },  { 0x207B, 0x2212, RAISED },
    { 0x207D, '(', RAISED },  { 0x207E, ')', RAISED },  { 0x207F, 'n', RAISED },  { 0x1D48, 'd', RAISED },
    { 0x2080, '0', LOWERED }, { 0x2081, '1', LOWERED }, { 0x2082, '2', LOWERED }, { 0x2083, '3', LOWERED },
    { 0x2084, '4', LOWERED }, { 0x2085, '5', LOWERED }, { 0x2086, '6', LOWERED }, { 0x2087, '7', LOWERED },
    { 0x2088, '8', LOWERED }, { 0x2089, '9', LOWERED }, { 0x208A, '+', LOWERED }, { 0x208B, 0x2212, LOWERED },
};

/* Takes one character off the text; a byte that begins none counts as one that is not known. */
static uint32_t code_take(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    const int more = p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
    uint32_t code = more == 0 ? p[0] : p[0] & (0x3FU >> more);
    int k = 1;
    for (; k <= more && (p[k] & 0xC0) == 0x80; k++)
        code = code << 6 | (p[k] & 0x3FU);
    *text += k;
    return code;
}

typedef struct letter { /* what a character looks like */
    const glyph *look;
    double scale, shift; /* shift in units of a full-sized letter */
    bool known;
} letter;

static letter letter_find(uint32_t code)
{
    letter found = { &GLYPHS[0], 1.0, 0.0, false };
    for (size_t k = 0; k < sizeof SMALLS / sizeof SMALLS[0]; k++)
        if (SMALLS[k].code == code) {
            found.scale = SMALL;
            found.shift = SMALLS[k].shift;
            code = SMALLS[k].base;
            break;
        }
    for (size_t k = 0; k < GLYPH_COUNT; k++)
        if (GLYPHS[k].code == code) {
            found.look = &GLYPHS[k];
            found.known = true;
        }
    return found;
}

static double letter_advance(const letter *l)
{
    return l->scale * (l->look->width + GAP);
}

/* Where text stands: the pen's place on the baseline, pixels a unit, and the direction of reading. */
typedef struct stance {
    spot origin;
    double scale, cosine, sine, thickness;
} stance;

static spot stance_map(const stance *s, double right, double up)
{
    const double x = s->scale * right, y = s->scale * up;
    return (spot){ s->origin.x + x * s->cosine - y * s->sine, s->origin.y - x * s->sine - y * s->cosine };
}

static void letter_draw(raster *r, const letter *l, const stance *where)
{
    double pen_x = 0.0, pen_y = 0.0;
    char command = 'm';
    for (char *p = (char *)(uintptr_t)l->look->drawing; *p != 0;) { /* strtol wants it so; nothing is written */
        long v[6];
        while (*p == ' ')
            p++;
        if (*p == 'm' || *p == 'l' || *p == 'a')
            command = *p++;
        for (int k = 0; k < (command == 'a' ? 6 : 2); k++)
            v[k] = strtol(p, &p, 10);
        const int steps = command == 'a' ? (int)ceil((double)labs(v[5] - v[4]) / ARC_STEP) : 1;
        for (int k = 0; k <= steps; k++) {
            double x = (double)v[0], y = (double)v[1];
            if (command == 'a') {
                const double angle = NPMD_PI / 180.0 * ((double)v[4] + (double)(v[5] - v[4]) * k / steps);
                x += (double)v[2] * cos(angle);
                y += (double)v[3] * sin(angle);
            }
            if (k > 0 && command != 'm')
                raster_segment(r, stance_map(where, l->scale * pen_x, l->scale * pen_y + l->shift),
                               stance_map(where, l->scale * x, l->scale * y + l->shift),
                               where->thickness * (l->scale < 1.0 ? 0.85 : 1.0));
            if (k > 0 || command != 'l') /* a line starts where the pen is, not where it goes */
                pen_x = x, pen_y = y;
        }
    }
}

static double letters_units(const char *text)
{
    double units = 0.0;
    while (*text != 0) {
        const letter l = letter_find(code_take(&text));
        units += letter_advance(&l);
    }
    return units > 0.0 ? units - GAP : 0.0;
}

double letters_width(double size, const char *text)
{
    return TEXT_CAPITAL * size / CAPITAL * letters_units(text);
}

bool letters_know(const char *text)
{
    while (*text != 0)
        if (!letter_find(code_take(&text)).known)
            return false;
    return true;
}

void letters_draw(raster *r, double x, double y, text_place place, double turned, double size, bool bold,
                  const char *text)
{
    const double angle = NPMD_PI / 180.0 * turned, units = letters_units(text);
    stance where = { .origin = { x, y },
                     .scale = TEXT_CAPITAL * size / CAPITAL,
                     .cosine = cos(angle),
                     .sine = sin(angle),
                     .thickness = size * (bold ? THICK : THIN) };
    where.origin = stance_map(&where, place == TEXT_LEFT ? 0.0 : place == TEXT_CENTRE ? -0.5 * units : -units, 0.0);
    while (*text != 0) {
        const letter l = letter_find(code_take(&text));
        letter_draw(r, &l, &where);
        where.origin = stance_map(&where, letter_advance(&l), 0.0);
    }
}
