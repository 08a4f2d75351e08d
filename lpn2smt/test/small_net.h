// Two jobs are fetched, 3 ticks each, and worked on for as long as they are large.
#pragma once

#include <memory>

#include "lpn/classes/input_space.h"
#include "lpn/classes/partition.h"
#include "lpn/net/net.h"
#include "lpn/smt/z3_feasibility.h"
#include "lpn/text/text.h"

namespace lpn::smt {

struct SmallNet {
  Net net = parse_net(R"(lpn 1
net small
type unit ()
type job (size: 0..9)
place in : job start
place ready : job
place out : unit done
transition fetch {
  take j from in
  delay 3
  servers 1
  put ready (j.size)
}
transition work {
  take j from ready
  delay j.size
  servers 1
  put out
}
end
)");
  InputSpace space;  // sizes from 1 to 6 that add up to 9 at most

  SmallNet() {
    ExprPool& pool = space.variables.exprs;
    for (const char* name : {"first", "second"}) {
      space.variables.params.push_back(
          {.name = name, .value = 1, .range = Range{1, 6}, .source = {}});
    }
    const ExprId first = pool.param(0), second = pool.param(1);
    space.tokens.push_back(
        {.place = *net.find_place("in"), .rows = {{first}, {second}}, .count = {}});
    space.constraints.push_back(
        pool.binary(Op::kLe, pool.binary(Op::kAdd, first, second), pool.constant(9)));
  }
  Partition parts() const {
    PartitionOptions options;
    options.solver = [] { return std::make_unique<Z3Feasibility>(); };
    return partition(net, space, options);
  }
};

}  // namespace lpn::smt
