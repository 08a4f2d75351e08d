// What an instant of a run adds to the graph, as SVG: tokens under way, firings in flight. Pure.
//
//   drawMoment(net, layout, record, t, trail)   SVG text for t (may lie between two cycles); `trail`:
//                                               for how many cycles a token is seen on its way
//   levelsAt(net, state)                        what places show: [{ tokens, share }]
//
// A net moves tokens at once, when a firing starts and when it commits; they are drawn on the arc
// for a while after, so that they can be followed.

import { slotsOf } from '../net/draw.js';
import { lastUpTo } from '../base/numbers.js';
import { inFlight } from './record.js';

const n = (value) => String(Math.round(value * 10) / 10);
const MOST = 400; // tokens drawn at once
const BARS = 3; // firings of a block that get a bar each

function along(points, share) {
  let length = 0;
  for (let k = 1; k < points.length; ++k) length += Math.hypot(points[k][0] - points[k - 1][0], points[k][1] - points[k - 1][1]);
  let left = length * share;
  for (let k = 1; k < points.length; ++k) {
    const [a, b] = [points[k - 1], points[k]];
    const step = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (left <= step) return [a[0] + ((b[0] - a[0]) * left) / (step || 1), a[1] + ((b[1] - a[1]) * left) / (step || 1)];
    left -= step;
  }
  return points[points.length - 1];
}

function token([x, y], count) {
  const text = count > 1 ? `<text class="token-many" x="${n(x)}" y="${n(y + 3)}">${count > 99 ? '99+' : count}</text>` : '';
  const r = count > 99 ? 11 : count > 1 ? 8 : 5;
  return `<circle class="token" cx="${n(x)}" cy="${n(y)}" r="${r}"/>${text}`;
}

/** How many tokens each arc of firing k moves; `side` 0: inputs, 1: outputs. */
export function moved(net, record, transition, actor, k, side) {
  const t = net.transitions[transition];
  const varying = record.varying[transition];
  return (side === 0 ? t.inputs : t.outputs).map((arc, a) => {
    const c = varying[side].indexOf(a);
    if (c < 0) return arc.constant ?? 0;
    return actor.counts[side === 0 ? c : varying[0].length + c][k];
  });
}

/** Edges of the layout by arc: "i3.0" -> edge; arcs into closed groups go by their bundle. */
export function edgesByArc(layout) {
  const edges = new Map();
  for (const edge of layout.edges) {
    if (edge.kind === 'bundle') for (const arc of edge.arcs) edges.set(arc.id, edge);
    else edges.set(edge.id, edge);
  }
  return edges;
}

export function drawMoment(net, layout, record, t, trail) {
  const segment = record.segments.get(record.segmentOf(t));
  if (!segment) return '';
  const edges = (layout.byArc ??= edgesByArc(layout));
  const blocks = (layout.blocks ??= new Map(layout.nodes.filter((node) => node.kind === 'transition').map((node) => [node.index, node])));
  let out = '';
  let drawn = 0;
  // Tokens on their way may have left in the segment before.
  const before = record.segments.get(record.segmentOf(Math.max(0, t - trail)));
  const parts = before && before !== segment ? [before, segment] : [segment];
  for (const part of parts) {
    part.transitions.forEach((actor, k) => {
      const last = lastUpTo(actor.start, t);
      const later = part !== parts[0];
      for (let f = last; f >= 0 && drawn < MOST; --f) {
        if (actor.reach[f] < t - trail && actor.start[f] < t - trail) break;
        const move = (at, side) => {
          const share = (t - at) / trail;
          if (share < 0 || share > 1) return;
          moved(net, record, k, actor, f, side).forEach((count, a) => {
            const edge = count && edges.get(`${side ? 'o' : 'i'}${k}.${a}`);
            if (!edge || drawn >= MOST) return;
            out += token(along(edge.points, share), count);
            ++drawn;
          });
        };
        if (!(later && f < actor.carried)) move(actor.start[f], 0);
        // A firing that is carried on into the next part commits there.
        if (part === parts[parts.length - 1] || actor.due[f] < parts[1].begin) move(actor.due[f], 1);
      }
    });
  }
  segment.transitions.forEach((actor, k) => {
    const node = blocks.get(k);
    if (!node) return;
    const open = inFlight(actor, t);
    if (!open.length) return;
    const shown = open.slice(-BARS);
    const room = node.w - 24 - (open.length > 1 ? 26 : 0);
    const w = (room - 3 * (shown.length - 1)) / shown.length;
    const y = node.y + node.h - 9;
    shown.forEach((f, i) => {
      const x = node.x + 12 + i * (w + 3);
      const share = Math.min(1, (t - actor.start[f]) / (actor.due[f] - actor.start[f]));
      out += `<rect class="busy-track" x="${n(x)}" y="${n(y)}" width="${n(w)}" height="4" rx="2"/>`
        + `<rect class="busy" x="${n(x)}" y="${n(y)}" width="${n(Math.max(1, w * share))}" height="4" rx="2"/>`;
    });
    if (open.length > 1) out += `<text class="in-flight" x="${n(node.x + node.w - 12)}" y="${n(y + 5)}">${open.length}</text>`;
  });
  return out;
}

/** Per place: its tokens and the share of its picture that they fill. `peaks`: most tokens of the run. */
export function levelsAt(net, tokens, peaks) {
  return net.places.map((place, p) => {
    const most = slotsOf(place) ?? peaks[p] ?? 0;
    return { tokens: tokens[p], share: most ? Math.min(1, tokens[p] / most) : 0 };
  });
}
