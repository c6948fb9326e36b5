// The door to jansson.
#pragma once
#include <jansson.h>
