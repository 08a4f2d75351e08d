// Where everything of a net stands: net description -> positions. Pure: no DOM, runs in node too.
//
//   const view = { collapsed: new Set(['f1']), credits: false };
//   const layout = await layoutNet(net, view, new ELK());      // elkjs, or its worker's stand-in
//   drawNet(net, layout)                                         // draw.js: an SVG string
//
// `net` is the description that lpnviz writes (lpnviz/README.md, "The description of a net"). A
// layout is plain data in px, origin top left:
//
//   { width, height,
//     nodes:  [{ id, kind: 'transition' | 'place' | 'group' | 'frame', index, x, y, w, h, ... }]
//             frame: an open group, drawn behind its members; group: a collapsed one
//     edges:  [{ id, kind: 'take' | 'peek' | 'watch' | 'empty' | 'put' | 'credit' | 'bundle',
//                from, to (node ids), transition, arc (index), place, points: [[x, y], ...],
//                label: null | { text, x, y, w, h } }] }
//
// Everything written in a box has been measured (text.js) and fits, so boxes that do not overlap
// have labels that do not overlap.

import { cut, monoWidth, sansWidth } from '../base/text.js';

export const TITLE = { size: 13, weight: 600 };
export const LINE = { size: 11, height: 16 };
export const NAME = { size: 11.5, weight: 500 };
export const EDGE_TEXT = { size: 10, height: 14 };
export const FIFO = { height: 24, name: 17 }; // a place: its name above, the queue below
const FORMULA = 30; // characters of a formula in a block
const LABEL = 16; // of one at an arc
const PAD = 12;
const STEMS_FROM = 120; // nodes, from which names without dots make groups by how they begin

/** Dotted prefixes with at least two members: instances and blocks of the library. */
export function groupsOf(net) {
  const count = new Map();
  const names = [...net.transitions, ...net.places].map((n) => n.name);
  const prefixes = (name) => {
    const parts = name.split('.');
    return parts.slice(0, -1).map((_, k) => parts.slice(0, k + 1).join('.'));
  };
  for (const name of names) {
    for (const p of prefixes(name)) count.set(p, (count.get(p) ?? 0) + 1);
  }
  for (const place of net.places) if (count.has(place.name)) count.set(place.name, count.get(place.name) + 1);
  const groups = new Map();
  if (!count.size && names.length > STEMS_FROM) return stemsOf(net, names);
  for (const [path, members] of count) if (members >= 2) groups.set(path, { path, parent: null, members });
  for (const group of groups.values()) {
    const outer = prefixes(group.path).filter((p) => groups.has(p));
    group.parent = outer.length ? outer[outer.length - 1] : null;
  }
  // A place called like a group stands in it: lib.fifo makes the place `queue` and `queue.write`.
  const home = (name, isPlace) => {
    if (isPlace && groups.has(name)) return name;
    const all = prefixes(name).filter((p) => groups.has(p));
    return all.length ? all[all.length - 1] : null;
  };
  return {
    groups,
    placeGroup: net.places.map((p) => home(p.name, true)),
    transitionGroup: net.transitions.map((t) => home(t.name, false)),
  };
}

/** Of a large net without dotted names: what names begin with up to their first `_`, where four or more do. */
function stemsOf(net, names) {
  const stem = (name) => name.slice(0, name.indexOf('_') + 1);
  const count = new Map();
  for (const name of names) if (stem(name)) count.set(stem(name), (count.get(stem(name)) ?? 0) + 1);
  const groups = new Map();
  for (const [path, members] of count) if (members >= 4 && members < names.length) groups.set(path, { path, parent: null, members });
  const home = (part) => (groups.has(stem(part.name)) ? stem(part.name) : null);
  return { groups, placeGroup: net.places.map(home), transitionGroup: net.transitions.map(home) };
}

/** A name without its group's prefix. */
export function shortName(name, group) {
  if (group?.endsWith('_') && name.startsWith(group)) return name.slice(group.length);
  return group && name.startsWith(group + '.') ? name.slice(group.length + 1) : name;
}

/** What stands at an input arc; '' for one token taken. */
export function inputLabel(arc) {
  if (arc.kind === 'empty') return 'empty';
  if (arc.kind === 'watch') return 'sees';
  if (arc.kind === 'peek') return arc.need === '1' ? 'peek' : 'peek ' + arc.need;
  if (arc.need) return `${arc.weight} of ${arc.need}`;
  return arc.weight === '1' ? '' : arc.weight;
}

/** What stands at an output arc; '' for one token put. */
export function outputLabel(arc) {
  if (arc.constant === 1) return '';
  if (arc.constant !== null) return String(arc.constant);
  return arc.emissions.map((e) => e.count).join(' + ');
}

/** Labels cut to `most` characters. Those that begin alike lose their beginning, not what differs. */
export function cutLabels(texts, most = LABEL) {
  return texts.map((text, k) => {
    const short = cut(text, most);
    if (short === text) return short;
    const alike = texts.filter((other, i) => i !== k && other !== text && cut(other, most) === short);
    if (!alike.length) return short;
    const common = Math.max(...alike.map((other) => {
      let n = 0;
      while (n < text.length && text[n] === other[n]) ++n;
      return n;
    }));
    // From the word in which they begin to differ.
    const from = text.slice(0, common).search(/[\w.]*$/);
    return cut('…' + text.slice(Math.max(1, common - from < most / 2 ? from : common)), most);
  });
}

/** The lines of a transition's block: [{ word, text, full }]. */
export function transitionLines(t) {
  const lines = [{ word: t.clock ? 'periods' : 'delay', full: t.delay }];
  if (t.interval) lines.push({ word: 'every', full: t.interval });
  if (t.clock) lines.push({ word: 'clock', full: t.clock.phase === '0' ? t.clock.period : `${t.clock.period} + ${t.clock.phase}` });
  for (const arc of t.inputs) if (arc.guard) lines.push({ word: 'when', full: arc.guard });
  return lines.map((line) => ({ ...line, text: cut(line.full, FORMULA) }));
}

/** The servers of a block, as its chip says them. */
export function serversText(t) {
  const count = t.servers ? t.servers.value : null;
  return (count === null ? '∞' : `${count}×`) + (t.ordered ? ' in order' : '');
}

export const WORD_WIDTH = 48; // of the column before the formulas

function transitionSize(net, k, name) {
  const t = net.transitions[k];
  const lines = transitionLines(t);
  const title = sansWidth(name, TITLE.size, TITLE.weight) + 10 + sansWidth(serversText(t), 10, 500) + 12;
  const wide = Math.max(title, ...lines.map((l) => WORD_WIDTH + monoWidth(l.text, LINE.size)));
  return { w: Math.ceil(Math.max(96, wide + 2 * PAD)), h: 32 + LINE.height * lines.length + 12 };
}

/** What the middle of a place says before a run. */
export function capacityText(place) {
  if (place.capacity) return `≤ ${place.capacity.text}`;
  if (place.bound) return `≤ ${place.bound.tokens}`;
  return '';
}

function placeSize(net, k, name) {
  const wide = sansWidth(name, NAME.size, NAME.weight) + 4;
  return { w: Math.ceil(Math.max(72, wide)), h: FIFO.name + FIFO.height };
}

/** Places that only carry credits of a loop: left out unless asked for. */
export function creditPlaces(net) {
  return new Set(net.loops.filter((l) => !l.capacity && l.credit !== null).map((l) => l.credit));
}

/** The visible graph: what is a node, and which arcs there are between nodes. */
export function visible(net, view) {
  const { groups, placeGroup, transitionGroup } = groupsOf(net);
  const hiddenPlaces = view.credits ? new Set() : creditPlaces(net);
  const collapsedInto = (group) => {
    let found = null;
    for (let g = group; g !== null; g = groups.get(g).parent) if (view.collapsed.has(g)) found = g;
    return found;
  };
  const nodes = new Map();
  const frame = (path) => {
    if (path === null || nodes.has('g:' + path)) return;
    const group = groups.get(path);
    frame(group.parent);
    nodes.set('g:' + path, { id: 'g:' + path, kind: 'frame', path, parent: group.parent && 'g:' + group.parent });
  };
  const node = (kind, k, name, group) => {
    const into = collapsedInto(group);
    if (into !== null) {
      if (!nodes.has('g:' + into)) {
        frame(groups.get(into).parent);
        nodes.set('g:' + into, { id: 'g:' + into, kind: 'group', path: into, members: groups.get(into).members,
          parent: groups.get(into).parent && 'g:' + groups.get(into).parent });
      }
      return 'g:' + into;
    }
    frame(group);
    const id = kind[0] + k;
    nodes.set(id, { id, kind, index: k, name: shortName(name, group), parent: group && 'g:' + group });
    return id;
  };
  const transitionNode = net.transitions.map((t, k) => node('transition', k, t.name, transitionGroup[k]));
  const placeNode = net.places.map((p, k) => (hiddenPlaces.has(k) ? null : node('place', k, p.name, placeGroup[k])));

  const edges = [];
  const bundles = new Map();
  const add = (edge) => {
    if (edge.from === null || edge.to === null || edge.from === edge.to) return;
    const ends = [edge.from, edge.to];
    if (ends.some((id) => nodes.get(id).kind === 'group')) {
      const key = ends.join('>');
      const bundle = bundles.get(key);
      if (bundle) {
        bundle.arcs.push(edge);
        return;
      }
      const made = { ...edge, id: 'b' + bundles.size, kind: 'bundle', arcs: [edge] };
      bundles.set(key, made);
      edges.push(made);
    } else {
      edges.push(edge);
    }
  };
  net.transitions.forEach((t, k) => {
    const takes = cutLabels(t.inputs.map(inputLabel));
    const puts = cutLabels(t.outputs.map(outputLabel));
    t.inputs.forEach((arc, a) => add({ id: `i${k}.${a}`, kind: arc.kind, from: placeNode[arc.place],
      to: transitionNode[k], transition: k, arc: a, place: arc.place, text: takes[a] }));
    t.outputs.forEach((arc, a) => add({ id: `o${k}.${a}`, kind: 'put', from: transitionNode[k],
      to: placeNode[arc.place], transition: k, arc: a, place: arc.place, text: puts[a] }));
  });
  if (view.credits) {
    net.places.forEach((place, p) => {
      if (!place.capacity) return;
      const takers = net.transitions.flatMap((t, k) => (t.inputs.some((a) => a.place === p && a.kind === 'take') ? [k] : []));
      const makers = net.transitions.flatMap((t, k) => (t.outputs.some((a) => a.place === p) ? [k] : []));
      for (const from of takers) {
        for (const to of makers) {
          add({ id: `c${p}.${from}.${to}`, kind: 'credit', from: transitionNode[from], to: transitionNode[to],
            transition: to, arc: null, place: p, text: `credit of ${shortName(place.name, placeGroup[p])}` });
        }
      }
    });
  }
  for (const bundle of bundles.values()) bundle.text = bundle.arcs.length > 1 ? `${bundle.arcs.length} arcs` : bundle.text;
  return { nodes: [...nodes.values()], edges, placeNode, transitionNode };
}

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.nodePlacement.bk.fixedAlignment': 'BALANCED',
  'elk.layered.spacing.nodeNodeBetweenLayers': '24',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.spacing.nodeNode': '24',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.edgeLabel': '3',
  'elk.spacing.componentComponent': '48',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.padding': '[top=28,left=28,bottom=28,right=28]',
};
const FRAME_PADDING = '[top=38,left=18,bottom=18,right=18]';

/** The graph as ELK wants it. */
export function toElk(net, view) {
  const shown = visible(net, view);
  const children = new Map();
  // How often crossings are minimised anew; for large nets less, which costs a few bends in a hundred.
  const thoroughness = shown.nodes.length > 120 ? '3' : '7';
  const root = { id: 'root', layoutOptions: { ...OPTIONS, 'elk.layered.thoroughness': thoroughness }, children: [], edges: [] };
  for (const node of shown.nodes) {
    const made = { id: node.id, labels: [] };
    if (node.kind === 'frame') {
      made.children = [];
      made.layoutOptions = { 'elk.padding': FRAME_PADDING,
        'elk.nodeSize.constraints': 'MINIMUM_SIZE',
        'elk.nodeSize.minimum': `(${Math.ceil(sansWidth(node.path, 12, 600)) + 60}, 60)` };
    } else {
      const size = node.kind === 'transition' ? transitionSize(net, node.index, node.name)
        : node.kind === 'place' ? placeSize(net, node.index, node.name)
          : { w: Math.ceil(Math.max(120, sansWidth(node.path, TITLE.size, 600) + 60, 150)), h: 54 };
      made.width = size.w;
      made.height = size.h;
      made.ports = [];
      made.layoutOptions = { 'elk.portConstraints': node.kind === 'place' ? 'FIXED_POS' : 'FIXED_SIDE',
        'elk.spacing.portPort': '12' };
      if (node.kind === 'place') {
        const y = FIFO.name + FIFO.height / 2;
        made.ports.push({ id: node.id + 'w', x: 0, y, width: 0, height: 0, layoutOptions: { 'elk.port.side': 'WEST' } },
          { id: node.id + 'e', x: size.w, y, width: 0, height: 0, layoutOptions: { 'elk.port.side': 'EAST' } });
      }
    }
    children.set(node.id, made);
  }
  for (const node of shown.nodes) {
    (node.parent ? children.get(node.parent).children : root.children).push(children.get(node.id));
  }
  for (const edge of shown.edges) {
    const port = (id, side) => {
      const node = children.get(id);
      if (id[0] === 'p') return id + side;
      const made = { id: `${edge.id}${side}`, width: 0, height: 0,
        layoutOptions: { 'elk.port.side': side === 'w' ? 'WEST' : 'EAST' } };
      node.ports.push(made);
      return made.id;
    };
    const made = { id: edge.id, sources: [port(edge.from, 'e')], targets: [port(edge.to, 'w')] };
    if (edge.text) {
      made.labels = [{ text: edge.text, width: Math.ceil(monoWidth(edge.text, EDGE_TEXT.size)) + 6, height: EDGE_TEXT.height,
        layoutOptions: { 'elk.edgeLabels.inline': 'true', 'elk.edgeLabels.placement': 'CENTER' } }];
    }
    root.edges.push(made);
  }
  return { root, shown };
}

/** The layout that ELK's answer says. */
export function fromElk(answer, shown) {
  const placed = new Map();
  const walk = (node) => {
    placed.set(node.id, node);
    (node.children ?? []).forEach(walk);
  };
  walk(answer);
  const nodes = shown.nodes.map((node) => {
    const at = placed.get(node.id);
    return { ...node, x: at.x, y: at.y, w: at.width, h: at.height };
  });
  const routed = new Map(answer.edges.map((e) => [e.id, e]));
  const edges = shown.edges.map((edge) => {
    const at = routed.get(edge.id);
    const section = at.sections[0];
    const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map((p) => [p.x, p.y]);
    const label = at.labels?.length
      ? { text: at.labels[0].text, x: at.labels[0].x, y: at.labels[0].y, w: at.labels[0].width, h: at.labels[0].height }
      : null;
    return { ...edge, points, label };
  });
  return { width: answer.width || 1, height: answer.height || 1, nodes, edges }; // a net of nothing has none
}

/** How large a layout is drawn in a box of that size, in px. */
export function fitted(layout, [w, h], most = 1.25) {
  return Math.min(w / layout.width, h / layout.height, most);
}

function endsAtItsNodes(layout, edge) {
  const touches = (id, [x, y]) => {
    const node = layout.nodes.find((each) => each.id === id);
    return x >= node.x - 1 && x <= node.x + node.w + 1 && y >= node.y - 1 && y <= node.y + node.h + 1;
  };
  return touches(edge.from, edge.points[0]) && touches(edge.to, edge.points[edge.points.length - 1]);
}

const READABLE = 0.85; // drawn smaller than so, a layout is tried in rows
const ROWS_UP_TO = 60; // nodes

/** Lays the net out. `elk`: something with elkjs's layout(graph). `box`: the size in px in which it is to
 * be seen: a long chain is then folded into rows where that makes it larger. */
export async function layoutNet(net, view, elk, box = null) {
  const { root, shown } = toElk(net, view);
  const layout = fromElk(await elk.layout(root), shown);
  const flat = shown.nodes.every((node) => node.kind !== 'frame');
  if (!box || !flat || shown.nodes.length > ROWS_UP_TO || fitted(layout, box) >= READABLE) return layout;
  const again = toElk(net, view);
  Object.assign(again.root.layoutOptions, { 'elk.hierarchyHandling': 'SEPARATE_CHILDREN', 'elk.layered.wrapping.strategy': 'MULTI_EDGE', 'elk.aspectRatio': String(box[0] / box[1]) });
  const answer = await elk.layout(again.root);
  // Where rows break ELK loses an arc now and then, or a piece of it.
  if (answer.edges.some((edge) => edge.sections?.length !== 1)) return layout;
  const folded = fromElk(answer, again.shown);
  if (!folded.edges.every((edge) => endsAtItsNodes(folded, edge))) return layout;
  return fitted(folded, box) > 1.1 * fitted(layout, box) ? folded : layout;
}
