// All of Ridge's operators.
#pragma once

#include "ridge/elementwise.h"
#include "ridge/movement.h"
