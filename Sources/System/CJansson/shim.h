// Imports jansson.
#pragma once
#include <jansson.h>
