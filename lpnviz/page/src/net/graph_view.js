// The graph in the page: drawn once per layout, then panned, zoomed, searched and walked through.

import { drawNet } from './draw.js';
import { Minimap } from './minimap.js';
import { groupsOf, layoutNet, NAME, TITLE } from './layout.js';
import { sansWidth } from '../base/text.js';

const MOST_ZOOM = 4;
const LEAST_ZOOM = 0.04;
const FAR = 0.62; // drawn smaller than so, a part is its name

export class GraphView {
  /** `svg`: the element; `elk`: a promise of something with layout(). Calls `onChoose(id or null)`, `onHover`. */
  constructor(svg, net, elk, { onChoose, onHover, onDrawn, onMoved, onArc }) {
    this.svg = svg;
    this.net = net;
    this.elk = elk;
    this.onChoose = onChoose;
    this.onHover = onHover;
    this.onDrawn = onDrawn;
    this.onMoved = onMoved;
    this.onArc = onArc;
    this.view = { collapsed: new Set(), credits: false };
    this.groups = groupsOf(net).groups;
    this.chosen = null;
    this.cursor = null; // the node that the keyboard is at
    this.zoom = 1;
    this.at = [0, 0];
    svg.innerHTML = '<g class="world"><g class="net"></g></g>';
    // What moves is an element of its own: changing it does not lay out the texts of the net again.
    const above = svg.cloneNode(true);
    for (const name of ['role', 'aria-label']) above.removeAttribute(name);
    above.setAttribute('aria-hidden', 'true');
    above.classList.add('above');
    svg.after(above);
    this.worlds = [svg, above].map((s) => s.querySelector('.world'));
    this.content = svg.querySelector('.net');
    this.moment = above.querySelector('.net');
    this.minimap = new Minimap(this);
    this.isFit = true; // the whole net is shown, and stays so when the window changes
    this.listen();
    new ResizeObserver(() => this.resized()).observe(svg);
  }

  /** Lays out and draws; `drawing` is the promise of the latest. */
  draw(options) {
    this.drawing = this.drawAgain(options);
    return this.drawing;
  }

  async drawAgain({ keep = false } = {}) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    const begin = performance.now();
    let failure = null;
    const layout = await layoutNet(this.net, this.view, await this.elk, this.size()).catch((error) => {
      failure = error.message; // its stack is a browser's, which a chain of thousands of parts is too long for
      return { width: 1, height: 1, nodes: [], edges: [] };
    });
    if (turn !== this.turn) return; // a later one is on its way
    this.failure = failure;
    this.layoutMilliseconds = performance.now() - begin;
    this.layout = layout;
    this.content.innerHTML = drawNet(this.net, layout);
    this.elements = new Map();
    for (const e of this.content.querySelectorAll('[data-node]')) this.elements.set(e.dataset.node, e);
    this.arcs = new Map();
    for (const e of this.content.querySelectorAll('[data-edge]')) {
      if (!this.arcs.has(e.dataset.edge)) this.arcs.set(e.dataset.edge, []);
      this.arcs.get(e.dataset.edge).push(e);
    }
    this.byId = new Map(layout.nodes.map((node) => [node.id, node]));
    this.measureNames();
    this.minimap.draw(layout);
    if (!keep) this.fit();
    if (!this.byId.has(this.cursor)) this.cursor = layout.nodes.find((node) => node.kind === 'transition')?.id ?? layout.nodes[0]?.id;
    this.moveFocus(this.cursor, false);
    this.mark();
    this.onDrawn?.();
  }

  // ---- what is seen ------------------------------------------------------------------------

  size() {
    const box = this.svg.getBoundingClientRect();
    return [box.width || 1, box.height || 1];
  }

  /** How large names may be where they are all that is drawn of a part. */
  measureNames() {
    for (const node of this.layout.nodes) {
      const name = this.elements.get(node.id).querySelector('.title, .name');
      if (!name) continue;
      const style = node.kind === 'place' ? NAME : TITLE;
      const room = node.kind === 'place' ? node.w + 16 : node.w - 18;
      const most = Math.min(node.kind === 'place' ? 17 : node.h * 0.45, (style.size * room) / Math.max(1, sansWidth(name.textContent, style.size, style.weight)));
      name.style.setProperty('--most', `${Math.max(style.size, most).toFixed(1)}px`);
    }
  }

  resized() {
    const [w, h] = this.size();
    const [was, high] = this.seen ?? [w, h];
    this.seen = [w, h];
    if (!this.layout) return;
    if (this.isFit) this.fit();
    else if (was !== w || high !== h) this.move((w - was) / 2, (h - high) / 2); // the middle stays there
  }

  fit() {
    this.isFit = true;
    const [w, h] = this.size();
    this.seen = [w, h];
    this.zoom = Math.min(w / this.layout.width, h / this.layout.height, 1.25);
    this.at = [(w - this.layout.width * this.zoom) / 2, (h - this.layout.height * this.zoom) / 2];
    this.apply();
  }

  apply() {
    const transform = `translate(${this.at[0].toFixed(2)} ${this.at[1].toFixed(2)}) scale(${this.zoom.toFixed(4)})`;
    for (const world of this.worlds) world.setAttribute('transform', transform);
    this.svg.classList.toggle('far', this.zoom < FAR);
    this.svg.style.setProperty('--zoom', this.zoom.toFixed(3));
    this.minimap.show();
    this.onMoved?.();
  }

  move(dx, dy) {
    this.at = [this.at[0] + dx, this.at[1] + dy];
    this.apply();
  }

  zoomBy(factor, x, y) {
    const [w, h] = this.size();
    const [cx, cy] = [x ?? w / 2, y ?? h / 2];
    const next = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.zoom * factor));
    this.at = [cx - ((cx - this.at[0]) * next) / this.zoom, cy - ((cy - this.at[1]) * next) / this.zoom];
    this.zoom = next;
    this.isFit = false;
    this.apply();
  }

  panBy(dx, dy) {
    this.isFit = false;
    this.move(dx, dy);
  }

  /** Moves the view so that a node is seen, and large enough to read. */
  reveal(id) {
    const node = this.byId?.get(id);
    if (!node) return;
    const [w, h] = this.size();
    const before = [this.zoom, ...this.at].join();
    if (this.zoom < FAR) this.zoom = Math.min(1, w / (node.w + 200), h / (node.h + 120));
    const [x, y] = [node.x * this.zoom + this.at[0], node.y * this.zoom + this.at[1]];
    const inside = x > 10 && y > 10 && x + node.w * this.zoom < w - 10 && y + node.h * this.zoom < h - 10;
    if (!inside) {
      this.at = [w / 2 - (node.x + node.w / 2) * this.zoom, h / 2 - (node.y + node.h / 2) * this.zoom];
    }
    if (before !== [this.zoom, ...this.at].join()) this.isFit = false;
    this.apply();
  }

  /** Opens what a node is hidden in, and shows it. */
  async show(id) {
    if (!this.byId.has(id)) {
      const { transitionGroup, placeGroup } = groupsOf(this.net);
      let group = id[0] === 't' ? transitionGroup[id.slice(1)] : placeGroup[id.slice(1)];
      for (; group !== null && group !== undefined; group = this.groups.get(group).parent) this.view.collapsed.delete(group);
      if (id[0] === 'p' && !this.byId.has(id)) {
        const hidden = this.net.loops.some((l) => l.credit === Number(id.slice(1)));
        if (hidden) this.view.credits = true;
      }
      await this.draw({ keep: true });
    }
    this.reveal(id);
  }

  // ---- groups and credits ------------------------------------------------------------------

  toggle(path) {
    if (this.view.collapsed.has(path)) this.view.collapsed.delete(path);
    else this.view.collapsed.add(path);
    return this.draw();
  }

  collapseAll(on) {
    this.view.collapsed = new Set(on ? [...this.groups.values()].filter((g) => g.parent === null).map((g) => g.path) : []);
    return this.draw();
  }

  // ---- marks -------------------------------------------------------------------------------

  choose(id) {
    this.chosen = id;
    this.mark();
    this.onChoose(id);
  }

  /** An arc is of its transition, whose page tells of it. */
  chooseArc(id) {
    const edge = this.layout.edges.find((e) => e.id === id);
    this.choose(edge.kind === 'bundle' ? edge.to : `t${edge.transition}`);
    for (const e of this.content.querySelectorAll('.near')) e.classList.remove('near');
    for (const e of this.arcs.get(id)) e.classList.add('near');
    this.onArc?.(edge);
  }

  edgesAt(id) {
    return this.layout.edges.filter((e) => e.from === id || e.to === id);
  }

  mark() {
    if (!this.elements) return;
    for (const e of this.content.querySelectorAll('.chosen, .near')) e.classList.remove('chosen', 'near');
    const element = this.elements.get(this.chosen);
    if (!element) return;
    element.classList.add('chosen');
    for (const edge of this.edgesAt(this.chosen)) for (const e of this.arcs.get(edge.id)) e.classList.add('near');
  }

  markFound(ids) {
    for (const e of this.content.querySelectorAll('.found')) e.classList.remove('found');
    for (const id of ids) this.elements.get(id)?.classList.add('found');
  }

  /** Marks nodes and edges of the critical path. `nodes`: ids; `pairs`: [[from, to]] of nodes. */
  markPath(nodes, edges) {
    for (const e of this.content.querySelectorAll('.on-path')) e.classList.remove('on-path');
    for (const id of nodes) this.elements.get(id)?.classList.add('on-path');
    for (const id of edges) for (const e of this.arcs.get(id) ?? []) e.classList.add('on-path');
  }

  // ---- pointer and keyboard ----------------------------------------------------------------

  nodeOf(target) {
    return target.closest?.('[data-node]')?.dataset.node ?? null;
  }

  listen() {
    const svg = this.svg;
    let drag = null;
    svg.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) return;
      drag = { x: e.clientX, y: e.clientY, moved: false };
    });
    svg.addEventListener('pointermove', (e) => {
      if (!drag) {
        this.onHover(this.nodeOf(e.target), e);
        return;
      }
      const [dx, dy] = [e.clientX - drag.x, e.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      if (!drag.moved) svg.setPointerCapture(e.pointerId);
      Object.assign(drag, { x: e.clientX, y: e.clientY, moved: true });
      svg.classList.add('dragging');
      this.panBy(dx, dy);
    });
    svg.addEventListener('pointerleave', (e) => this.onHover(null, e));
    svg.addEventListener('pointerup', (e) => {
      const moved = drag?.moved;
      drag = null;
      svg.classList.remove('dragging');
      if (moved || e.button !== 0) return;
      const id = this.nodeOf(e.target);
      const arc = !id && e.target.closest?.('[data-arc]')?.dataset.arc;
      if (arc) {
        this.chooseArc(arc);
        return;
      }
      if (id) this.moveFocus(id, true);
      this.choose(id);
    });
    svg.addEventListener('dblclick', (e) => {
      const id = this.nodeOf(e.target);
      if (id?.startsWith('g:')) this.toggle(id.slice(2));
    });
    svg.addEventListener('wheel', (e) => {
      e.preventDefault();
      const box = svg.getBoundingClientRect();
      const pixels = e.deltaMode === 1 ? e.deltaY * 16 : e.deltaY;
      this.zoomBy(Math.exp(-pixels * 0.0016), e.clientX - box.left, e.clientY - box.top);
    }, { passive: false });
    svg.addEventListener('keydown', (e) => this.key(e));
    svg.addEventListener('focusin', (e) => {
      const id = this.nodeOf(e.target);
      if (id) this.cursor = id;
    });
  }

  // One node can be reached by Tab; the arrow keys go on from it.
  moveFocus(id, focus) {
    if (!this.elements?.has(id)) return;
    this.elements.get(this.cursor)?.setAttribute('tabindex', '-1');
    this.cursor = id;
    const element = this.elements.get(id);
    element.setAttribute('tabindex', '0');
    if (focus) element.focus({ preventScroll: true });
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const id = this.nodeOf(e.target);
    const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (e.shiftKey && directions[e.key]) {
      const [dx, dy] = directions[e.key];
      this.panBy(-dx * 60, -dy * 60);
    } else if (directions[e.key] && id) {
      const next = this.neighbour(id, directions[e.key]);
      if (next) {
        this.moveFocus(next, true);
        this.reveal(next);
      }
    } else if ((e.key === 'Enter' || e.key === ' ') && id) {
      if (e.key === ' ' && id.startsWith('g:')) this.toggle(id.slice(2));
      else this.choose(id);
    } else if (e.key === 'Escape') {
      this.choose(null);
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  }

  // Along the arcs to the left and right, by position up and down.
  neighbour(id, [dx, dy]) {
    const from = this.byId.get(id);
    const [cx, cy] = [from.x + from.w / 2, from.y + from.h / 2];
    const linked = new Set(this.layout.edges.flatMap((e) => (e.from === id ? [e.to] : e.to === id ? [e.from] : [])));
    let best = null;
    for (const node of this.layout.nodes) {
      if (node.id === id || node.kind === 'frame') continue;
      const [x, y] = [node.x + node.w / 2 - cx, node.y + node.h / 2 - cy];
      const along = x * dx + y * dy;
      const across = Math.abs(x * dy) + Math.abs(y * dx);
      if (along <= 0) continue;
      const cost = along + 2 * across - (linked.has(node.id) ? 400 : 0);
      if (!best || cost < best.cost) best = { cost, id: node.id };
    }
    return best?.id ?? null;
  }
}
