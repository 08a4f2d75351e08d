// Jobs of some cycles each go through one server, then a step without delay.
#pragma once

#include "lpn/net/marking.h"
#include "lpn/net/net.h"
#include "lpn/run/interp.h"
#include "lpn/text/text.h"

namespace lpn::viz {

struct QueueNet {
  Net net = parse_net(R"(lpn 1
net queue
type unit ()
type job (size: 0..9)
place in : job start
place mid : unit capacity 2
place out : unit done
transition work {
  take j from in
  delay j.size
  servers 1
  put mid
}
transition step {
  take m from mid
  delay 0
  put out
}
end
)");
  Marking marking{net};  // jobs of 3 and 2 cycles

  QueueNet() { marking.add(PlaceId{0}, std::vector<std::int64_t>{3, 2}, 2); }

  // Runs it to the end with statistics; when that is.
  Time run(Watcher* watcher, Observer* observer = nullptr) const {
    InterpOptions options;
    options.stats = true;
    options.trace = observer != nullptr;
    Interp interp(net, {}, marking, options);
    interp.watch(watcher);
    return interp.run(kForever, observer).last_commit;
  }
};

}  // namespace lpn::viz
