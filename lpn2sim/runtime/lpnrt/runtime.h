// What generated simulators are made of; included by generated code alone. Header-only, a file per
// part: exact arithmetic, containers, what is due when, the engine that keeps the time, batches and
// the C interface.
#pragma once

#include "lpnrt/abi.h"
#include "lpnrt/arith.h"
#include "lpnrt/batch.h"
#include "lpnrt/codes.h"
#include "lpnrt/engine.h"
#include "lpnrt/identities.h"
#include "lpnrt/interface.h"
#include "lpnrt/meters.h"
#include "lpnrt/origins.h"
#include "lpnrt/outside.h"
#include "lpnrt/rings.h"
#include "lpnrt/variants.h"
#include "lpnrt/wheel.h"
