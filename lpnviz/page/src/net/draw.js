// The graph as SVG text: net description + layout -> string. Pure: no DOM, runs in node too.
//
//   drawNet(net, layout)                         the content of an <svg>: groups, edges, nodes
//   drawSvg(net, layout, { theme, fonts, overlay, state, caption })
//                                                a whole file; `fonts`: CSS @font-face rules to embed,
//                                                `overlay`: SVG text drawn on top, `state`: what places
//                                                hold and why transitions wait (moment.js makes both of
//                                                an instant of a run), `caption`: a line below
//   GRAPH_STYLE                                  the CSS of it
//
// Elements carry data-node="t3" / data-edge="i3.0" and classes; the page adds what is selected.

import {
  capacityText, EDGE_TEXT, FIFO, LINE, NAME, serversText, shortName, TITLE, transitionLines, WORD_WIDTH,
} from './layout.js';
import { escape, grouped, sansWidth } from '../base/text.js';
import { THEMES } from '../base/theme.js';

export const SANS = "'Inter Variable', Inter, 'Liberation Sans', Arial, sans-serif";
export const MONO = "'JetBrains Mono', 'DejaVu Sans Mono', monospace";

export const GRAPH_STYLE = `
.lpn text { font-family: ${SANS}; font-variant-ligatures: no-contextual; fill: var(--ink); dominant-baseline: alphabetic; }
.lpn .mono { font-family: ${MONO}; font-variant-ligatures: none; }
.lpn .title { font-size: ${TITLE.size}px; font-weight: 600; }
.lpn .name { font-size: ${NAME.size}px; font-weight: 500; }
.lpn .line { font-size: ${LINE.size}px; }
.lpn .word { font-size: ${LINE.size}px; fill: var(--soft); }
.lpn .chip { font-size: 10px; font-weight: 500; fill: var(--soft); }
.lpn .frame > rect { fill: var(--frame); stroke: var(--line); }
.lpn .frame > text { font-size: 12px; font-weight: 600; fill: var(--soft); }
.lpn .block > .box { fill: var(--panel); stroke: var(--strong); stroke-width: 1.2; }
.lpn .heat { fill: var(--heat); }
.lpn .why-mark { fill: none; }
.lpn .arc-hit { fill: none; stroke: transparent; stroke-width: 12; cursor: pointer; }
.lpn [data-wait='1'] > .why-mark { fill: var(--why1); }
.lpn [data-wait='2'] > .why-mark { fill: var(--why2); }
.lpn [data-wait='3'] > .why-mark { fill: var(--why3); }
.lpn [data-wait='4'] > .why-mark { fill: var(--why4); }
.lpn [data-wait='5'] > .why-mark { fill: var(--why5); }
.lpn [data-wait='6'] > .why-mark { fill: var(--why6); }
.lpn [data-wait='7'] > .why-mark { fill: var(--why7); }
.lpn .group > .box { fill: var(--panel); stroke: var(--strong); stroke-width: 1.2; }
.lpn .group > .back { fill: var(--frame); stroke: var(--strong); stroke-width: 1; }
.lpn .fifo { fill: var(--fifo); stroke: var(--strong); stroke-width: 1.2; }
.lpn .slot { stroke: var(--line); stroke-width: 1; }
.lpn .level { fill: var(--accentSoft); }
.lpn .count { font-size: 11px; font-weight: 600; text-anchor: middle; }
.lpn .count .most { font-weight: 400; fill: var(--soft); }
.lpn .role { fill: var(--accent); }
.lpn .arc { fill: none; stroke: var(--arc); stroke-width: 1.2; }
.lpn .arc.peek, .lpn .arc.watch { stroke-dasharray: 4 3; }
.lpn .arc.empty { stroke: var(--why4); }
.lpn .arc.credit { stroke: var(--accent); stroke-dasharray: 2 3; }
.lpn .arc.bundle { stroke-width: 2; }
.lpn .tip { fill: var(--arc); }
.lpn .tip.empty { fill: var(--panel); stroke: var(--why4); stroke-width: 1.2; }
.lpn .tip.hollow { fill: var(--panel); stroke: var(--arc); stroke-width: 1.2; }
.lpn .tip.credit { fill: var(--accent); }
.lpn .arc-label rect { fill: var(--ground); }
.lpn .arc-label text { font-size: ${EDGE_TEXT.size}px; fill: var(--soft); }
.lpn .on-path > .box, .lpn .on-path > .fifo { stroke: var(--path); stroke-width: 2.2; }
.lpn .arc.on-path { stroke: var(--path); stroke-width: 2.4; }
.lpn .tip.on-path { fill: var(--path); }
.lpn .near.arc { stroke: var(--accent); stroke-width: 2; }
.lpn .near.tip { fill: var(--accent); }
.lpn .node:focus { outline: none; }
.lpn .node:focus-visible > .box, .lpn .node:focus-visible > .fifo { stroke: var(--accent); stroke-width: 3; }
.lpn .chosen > .box, .lpn .chosen > .fifo { stroke: var(--accent); stroke-width: 2.6; }
.lpn .found > .box, .lpn .found > .fifo { fill: var(--accentSoft); }
.lpn .token { fill: var(--token); stroke: var(--panel); stroke-width: 1.5; }
.lpn .token-many { font-size: 9px; font-weight: 600; fill: var(--accentInk); text-anchor: middle; }
.lpn .busy-track { fill: var(--line); }
.lpn .busy { fill: var(--accent); }
.lpn .in-flight { font-size: 10px; font-weight: 600; fill: var(--accent); text-anchor: end; }
`;

const n = (value) => String(Math.round(value * 100) / 100);

/** A polyline with rounded corners as path data. */
export function roundedPath(points, radius = 6) {
  let d = `M${n(points[0][0])} ${n(points[0][1])}`;
  for (let k = 1; k < points.length; ++k) {
    const [x, y] = points[k];
    if (k === points.length - 1) {
      d += `L${n(x)} ${n(y)}`;
      break;
    }
    const [px, py] = points[k - 1];
    const [qx, qy] = points[k + 1];
    const before = Math.hypot(x - px, y - py);
    const after = Math.hypot(qx - x, qy - y);
    const r = Math.min(radius, before / 2, after / 2);
    if (r < 0.5) {
      d += `L${n(x)} ${n(y)}`;
      continue;
    }
    d += `L${n(x + ((px - x) * r) / before)} ${n(y + ((py - y) * r) / before)}`
      + `Q${n(x)} ${n(y)} ${n(x + ((qx - x) * r) / after)} ${n(y + ((qy - y) * r) / after)}`;
  }
  return d;
}

const TIP = 7; // length of an arrow head

/** The line of an edge without its head. */
function shaft(points) {
  const last = points[points.length - 1];
  const [px, py] = points[points.length - 2];
  const length = Math.hypot(last[0] - px, last[1] - py) || 1;
  const back = Math.min(TIP - 1, length / 2);
  return [...points.slice(0, -1), [last[0] - ((last[0] - px) / length) * back, last[1] - ((last[1] - py) / length) * back]];
}

function tip(edge) {
  const [x, y] = edge.points[edge.points.length - 1];
  const [px, py] = edge.points[edge.points.length - 2];
  const length = Math.hypot(x - px, y - py) || 1;
  const [dx, dy] = [(x - px) / length, (y - py) / length];
  const at = `data-edge="${edge.id}"`;
  if (edge.kind === 'empty' || edge.kind === 'watch') {
    const r = 3.5;
    return `<circle class="tip ${edge.kind === 'empty' ? 'empty' : 'hollow'}" ${at} cx="${n(x - dx * r)}" cy="${n(y - dy * r)}" r="${r}"/>`;
  }
  const [bx, by] = [x - dx * TIP, y - dy * TIP];
  const w = 3.6;
  const points = [[x, y], [bx - dy * w, by + dx * w], [bx + dy * w, by - dx * w]].map((p) => p.map(n).join(',')).join(' ');
  const kind = edge.kind === 'peek' ? 'hollow' : edge.kind === 'credit' ? 'credit' : '';
  return `<polygon class="tip ${kind}" ${at} points="${points}"/>`;
}

/** What a screen reader says of an edge. */
export function edgeTitle(net, edge) {
  const name = (id) => (id[0] === 't' ? net.transitions[id.slice(1)].name : id[0] === 'p' ? net.places[id.slice(1)].name : id.slice(2));
  if (edge.kind === 'bundle') return `${name(edge.from)} to ${name(edge.to)}: ${edge.arcs.length} arcs`;
  if (edge.kind === 'credit') return `credits of ${net.places[edge.place].name}: ${name(edge.from)} gives them back to ${name(edge.to)}`;
  const t = net.transitions[edge.transition];
  if (edge.kind === 'put') {
    const counts = t.outputs[edge.arc].emissions.map((e) => e.count).join(' + ');
    return `${t.name} puts ${counts} into ${name(edge.to)}`;
  }
  const arc = t.inputs[edge.arc];
  const guard = arc.guard ? `, when ${arc.guard}` : '';
  const what = { take: `takes ${arc.weight}${arc.need ? ` of ${arc.need}` : ''} from`, peek: `needs ${arc.need} in, and takes none of,`,
    watch: 'looks at', empty: 'starts only with none in' }[edge.kind];
  return `${t.name} ${what} ${name(edge.from)} (arc ${arc.name})${guard}`;
}

function drawEdge(net, edge) {
  const title = `<title>${escape(edgeTitle(net, edge))}</title>`;
  const d = roundedPath(shaft(edge.points));
  return `<path class="arc ${edge.kind}" data-edge="${edge.id}" d="${d}">${title}</path>${tip(edge)}<path class="arc-hit" data-arc="${edge.id}" d="${d}">${title}</path>`;
}

function drawEdgeLabel(net, edge) {
  if (!edge.label) return '';
  const { x, y, w, h, text } = edge.label;
  return `<g class="arc-label" data-edge="${edge.id}" data-arc="${edge.id}"><title>${escape(edgeTitle(net, edge))}</title><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" rx="3"/>`
    + `<text class="mono" x="${n(x + 3)}" y="${n(y + 10.5)}">${escape(text)}</text></g>`;
}

/** A share of the whole run, as a bar along the top of a block. */
export function drawHeat(node, share) {
  return `<rect class="heat" x="${n(node.x + 7)}" y="${n(node.y + 0.6)}" width="${n(Math.max(2, (node.w - 14) * Math.min(1, share)))}" height="4"/>`;
}

function drawTransition(net, node, wait, heat) {
  const t = net.transitions[node.index];
  const { x, y, w, h } = node;
  const lines = transitionLines(t).map((line, k) => {
    const at = y + 32 + LINE.height * k + 9;
    const full = line.full === line.text ? '' : `<title>${escape(line.full)}</title>`;
    return `<text class="word" x="${n(x + 12)}" y="${n(at)}">${line.word}</text>`
      + `<text class="mono line" x="${n(x + 12 + WORD_WIDTH)}" y="${n(at)}">${full}${escape(line.text)}</text>`;
  }).join('');
  const servers = serversText(t);
  return `<g class="node block" data-node="${node.id}"${wait % 8 ? ` data-wait="${wait % 8}"` : ''} role="button" tabindex="-1" aria-label="${escape(`transition ${t.name}, delay ${t.delay}`)}">`
    + `<rect class="box" x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" rx="7"/>`
    + (heat > 0 ? drawHeat(node, heat) : '')
    + `<rect class="why-mark" x="${n(x + 3)}" y="${n(y + 8)}" width="4" height="${n(h - 16)}" rx="2"/>`
    + `<text class="title" x="${n(x + 12)}" y="${n(y + 21)}">${escape(node.name)}</text>`
    + `<text class="chip" x="${n(x + w - 12 - sansWidth(servers, 10, 500))}" y="${n(y + 20)}">${escape(servers)}</text>`
    + lines + '</g>';
}

/** The queue of a place: its rectangle. */
export function fifoBox(node) {
  return { x: node.x, y: node.y + FIFO.name, w: node.w, h: FIFO.height };
}

/** The most tokens that the picture of a place has slots for; null: no bound that is known. */
export function slotsOf(place) {
  return place.capacity ? place.capacity.value : place.bound ? place.bound.tokens : null;
}

function drawPlace(net, node, level) {
  const p = net.places[node.index];
  const box = fifoBox(node);
  const slots = slotsOf(p);
  let cells = '';
  if (slots !== null && slots > 1 && slots <= 8) {
    for (let k = 1; k < slots; ++k) {
      const x = box.x + (box.w * k) / slots;
      cells += `<line class="slot" x1="${n(x)}" x2="${n(x)}" y1="${n(box.y + 1)}" y2="${n(box.y + box.h - 1)}"/>`;
    }
  }
  // An open mouth where tokens come in, unless it is bounded.
  const open = slots === null && !p.done;
  const shape = open
    ? `<path class="fifo" d="M${n(box.x)} ${n(box.y)}H${n(box.x + box.w)}V${n(box.y + box.h)}H${n(box.x)}"/>`
    : `<rect class="fifo" x="${n(box.x)}" y="${n(box.y)}" width="${n(box.w)}" height="${n(box.h)}" rx="2"/>`;
  const role = p.start ? `<polygon class="role" points="${n(box.x + 5)},${n(box.y + 7)} ${n(box.x + 13)},${n(box.y + 12)} ${n(box.x + 5)},${n(box.y + 17)}"/>`
    : p.done ? `<rect class="role" x="${n(box.x + box.w - 5)}" y="${n(box.y)}" width="5" height="${n(box.h)}"/>` : '';
  const tokens = level ? level.tokens : p.initial + p.tokens;
  const filled = level ? (box.w - 2) * level.share : 0;
  return `<g class="node place" data-node="${node.id}" role="button" tabindex="-1" aria-label="${escape(`place ${p.name}`)}">`
    + `<text class="name" x="${n(node.x + 2)}" y="${n(node.y + 12)}">${escape(node.name)}</text>`
    + shape
    + `<rect class="level" x="${n(box.x + box.w - 1 - filled)}" y="${n(box.y + 1)}" width="${n(filled)}" height="${n(box.h - 2)}"/>`
    + cells + role
    + `<text class="count" x="${n(box.x + box.w / 2 + (p.start ? 6 : 0))}" y="${n(box.y + 16)}">${countText(p, tokens)}</text></g>`;
}

/** "3 / 4": what a place's middle says, as SVG. */
export function countText(place, tokens) {
  const most = capacityText(place);
  const much = tokens === null ? '' : grouped(tokens);
  if (!most) return much;
  const slots = slotsOf(place);
  const short = place.capacity && String(slots) !== place.capacity.text && most.length <= 9 && tokens === null
    ? most : tokens === null ? `≤ ${slots}` : `/ ${grouped(slots)}`;
  return `${much}<tspan class="most">${much ? ' ' : ''}${escape(short)}</tspan>`;
}

function drawGroup(node) {
  const { x, y, w, h } = node;
  return `<g class="node group" data-node="${node.id}" role="button" tabindex="-1" aria-label="${escape(`group ${node.path}, closed, ${node.members} parts`)}">`
    + `<rect class="back" x="${n(x + 5)}" y="${n(y + 5)}" width="${n(w - 5)}" height="${n(h - 5)}" rx="7"/>`
    + `<rect class="box" x="${n(x)}" y="${n(y)}" width="${n(w - 5)}" height="${n(h - 5)}" rx="7"/>`
    + `<text class="title" x="${n(x + 12)}" y="${n(y + 21)}">${escape(node.path)}</text>`
    + `<text class="word" x="${n(x + 12)}" y="${n(y + 38)}">${node.members} parts · open</text></g>`;
}

function drawFrame(node) {
  return `<g class="node frame" data-node="${node.id}" role="button" tabindex="-1" aria-label="${escape(`group ${node.path}, open`)}">`
    + `<rect class="box" x="${n(node.x)}" y="${n(node.y)}" width="${n(node.w)}" height="${n(node.h)}" rx="10"/>`
    + `<text x="${n(node.x + 14)}" y="${n(node.y + 22)}">${escape(shortName(node.path, node.parent && node.parent.slice(2)))}</text></g>`;
}

/** The content of the SVG: frames, arcs, boxes, labels, in that order. `state`: { levels, waits } of an instant (moment.js). */
export function drawNet(net, layout, state = null) {
  const frames = layout.nodes.filter((node) => node.kind === 'frame').map(drawFrame).join('');
  const boxes = layout.nodes.map((node) => (node.kind === 'transition' ? drawTransition(net, node, state?.waits[node.index], state?.heat?.[node.index] ?? 0)
    : node.kind === 'place' ? drawPlace(net, node, state?.levels[node.index]) : node.kind === 'group' ? drawGroup(node) : '')).join('');
  return `<g class="frames">${frames}</g><g class="arcs">${layout.edges.map((e) => drawEdge(net, e)).join('')}</g>`
    + `<g class="nodes">${boxes}</g><g class="labels">${layout.edges.map((e) => drawEdgeLabel(net, e)).join('')}</g>`;
}

export const CAPTION = 26; // px below the drawing that a caption takes

/** A complete SVG file; its style has values in place of variables, which few programs know. */
export function drawSvg(net, layout, { theme = 'light', fonts = '', overlay = '', state = null, caption = '' } = {}) {
  const style = GRAPH_STYLE.replace(/var\(--(\w+)\)/g, (_, name) => THEMES[theme][name]);
  const w = Math.ceil(layout.width);
  const h = Math.ceil(layout.height) + (caption ? CAPTION : 0);
  const below = caption ? `<text class="name" x="12" y="${h - 9}">${escape(caption)}</text>` : '';
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" class="lpn" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">`
    + `<style>${fonts}${style}</style><rect width="${w}" height="${h}" fill="${THEMES[theme].ground}"/>`
    + drawNet(net, layout, state) + overlay + below + '</svg>\n';
}
