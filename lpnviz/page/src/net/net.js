// The net description as the page uses it: parsed, with what the loops say about places.

/** `text`: the JSON of lpnviz. Places of a credit loop learn their bound. */
export function readNet(text) {
  const net = JSON.parse(text);
  for (const loop of net.loops) {
    if (loop.capacity || loop.credit === null) continue;
    for (const p of loop.places) {
      const place = net.places[p];
      if (p === loop.credit || place.capacity) continue;
      if (!place.bound || loop.tokens < place.bound.tokens) place.bound = { tokens: loop.tokens, credit: loop.credit };
    }
  }
  return net;
}
