// What a picture of a net has to say, as JSON: names, formulas in the author's words, values of
// what the parameters decide, where each thing was written, and the loops that only carry credits.
#pragma once

#include <string>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"

namespace lpn::viz {

// The JSON object that lpnviz/README.md ("The description of a net") documents. REQUIRES
// verify(net).empty() and check_initial(net, params, marking).
std::string describe(const Net& net, const ParamValues& params, const Marking& marking);

}  // namespace lpn::viz
