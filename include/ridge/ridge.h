// All operators.
#pragma once

#include "ridge/elementwise.h"
#include "ridge/linear.h"
#include "ridge/movement.h"
#include "ridge/operators.h"
#include "ridge/reduce.h"
#include "ridge/scan.h"
#include "ridge/softmax.h"
