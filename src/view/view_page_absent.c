/* view_page_absent.c - stands in for the page in a build without three.js. */
#include "view.h"

const unsigned char VIEW_BUNDLE[] = { 0 };
const size_t VIEW_BUNDLE_SIZE = 0;
