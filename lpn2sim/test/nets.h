// Small nets of the tests.
#pragma once

#include "lpn/net/net.h"
#include "lpn/text/text.h"

namespace lpn::sim {

// Three items, each 2 ticks in `work` and then 5 in `pack`, one at a time.
inline Net line() {
  return parse_net(R"(lpn 1
net line
type item (v: 0..9)
place src : item start initial (index + 1) times 3
place mid : item capacity 2
place out : item done
transition work {
  take x from src
  delay 2
  servers 1
  put mid (x.v)
}
transition pack {
  take x from mid
  delay 5
  servers 1
  put out (x.v * 3 % 10)
}
end
)");
}

// Items go on with one of `n` permits, 2 unless said otherwise.
inline Net permits() {
  return parse_net(R"(lpn 1
net permits
param n = 2 in 0..9
type unit ()
place src : unit start initial 64
place free : unit initial n
place held : unit
place out : unit done
transition work {
  take x from src
  take p from free
  delay 2
  servers 1
  put held
}
transition pack {
  take h from held
  delay 5
  servers 1
  put free
  put out
}
end
)");
}

// `go` starts when `lock` is empty, which needs the clock.
inline Net inhibited() {
  return parse_net(R"(lpn 1
net inhibited
type unit ()
place src : unit start initial 1
place lock : unit initial 1
place out : unit done
transition go {
  take a from src
  empty l in lock
  delay 1
  put out
}
transition clear {
  take l from lock
  delay 5
}
end
)");
}

// `split` makes two of each, `join` takes three at a time.
inline Net rates() {
  return parse_net(R"(lpn 1
net rates
type unit ()
place src : unit start initial 9
place mid : unit
place out : unit done
transition split {
  take a from src
  delay 1
  servers 1
  put mid 2
}
transition join {
  take m from mid weight 3
  delay 4
  servers 1
  put out
}
end
)");
}

}  // namespace lpn::sim
