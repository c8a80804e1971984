// The public Status and Expected are the ones everything inside uses too.
#pragma once

#include "ridge/status.h"  // IWYU pragma: export
