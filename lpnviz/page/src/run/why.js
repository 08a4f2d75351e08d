// Why a transition waits at an instant, in words; what is under the pointer.

import { h } from '../base/dom.js';
import { duration, grouped } from '../base/text.js';
import { moved } from './moment.js';
import { WAITS } from './record.js';
import { rowText } from './values.js';

const count = (n, word) => `${grouped(n)} ${word}${n === 1 ? '' : 's'}`;

/** Tokens of a place that firings hold: { total, by: [[transition, tokens, due of the first]] }. */
export function heldTokens(net, record, state, p) {
  const segment = record.segments.get(record.segmentOf(state.time));
  const by = [];
  let total = 0;
  net.transitions.forEach((t, k) => {
    if (!t.inputs.some((arc) => arc.place === p)) return;
    let [tokens, due] = [0, Infinity];
    for (const f of state.inFlight[k]) {
      moved(net, record, k, segment.transitions[k], f, 0).forEach((n, a) => {
        if (t.inputs[a].place !== p || !n) return;
        tokens += n;
        due = Math.min(due, segment.transitions[k].due[f]);
      });
    }
    if (tokens) by.push([k, tokens, due]);
    total += tokens;
  });
  return { total, by };
}

/** "'refresh' holds it until 2 400", or who puts the next one; '' when neither is known. */
function whoHas(net, record, state, p, k) {
  const { by } = heldTokens(net, record, state, p);
  const holders = by.filter(([t]) => net.transitions[t].outputs.some((arc) => arc.place === p)); // who gives it back
  if (holders.length) {
    const [t, n, due] = holders.reduce((a, b) => (a[2] <= b[2] ? a : b));
    return `; '${net.transitions[t].name}' holds ${n === 1 ? 'one' : grouped(n)} until ${grouped(due)}`;
  }
  const segment = record.segments.get(record.segmentOf(state.time));
  let best = null;
  net.transitions.forEach((t, i) => {
    if (!t.outputs.some((arc) => arc.place === p)) return;
    for (const f of state.inFlight[i]) {
      const puts = moved(net, record, i, segment.transitions[i], f, 1).some((n, a) => n && t.outputs[a].place === p);
      const due = segment.transitions[i].due[f];
      if (puts && (!best || due < best[1])) best = [i, due];
    }
  });
  if (best) return `; ${best[0] === k ? 'its own firing' : `'${net.transitions[best[0]].name}'`} puts the next at ${grouped(best[1])}`;
  const makers = net.transitions.filter((t) => t.outputs.some((arc) => arc.place === p));
  return makers.length === 1 && !state.inFlight[net.transitions.indexOf(makers[0])].length ? `; '${makers[0].name}', which fills it, does nothing now` : '';
}

/** { why, text } of a transition now; why 0: it does not wait. */
export function reasonOf(net, run, state, k) {
  const { record } = run;
  const wait = state.waits[k];
  const why = wait % 8;
  const what = Math.floor(wait / 8);
  const t = net.transitions[k];
  const place = (p) => net.places[p].name;
  if (why === 0) return { why, text: 'could start once more: nothing holds it back' };
  if (why === 1 || why === 3 || why === 4) {
    const arc = t.inputs[what];
    const there = state.tokens[arc.place] - heldTokens(net, record, state, arc.place).total;
    const at = { why, arc: what, place: arc.place };
    if (why === 1) {
      const needs = arc.need && arc.need !== '0' ? arc.need : arc.weight;
      return { ...at, text: `waits for tokens over arc '${arc.name}': place '${place(arc.place)}' has ${there} free, it needs ${needs}${whoHas(net, record, state, arc.place, k)}` };
    }
    if (why === 3) return { ...at, text: `is kept by the guard of arc '${arc.name}' (place '${place(arc.place)}', ${count(state.tokens[arc.place], 'token')}): ${arc.guard ?? 'it'} does not hold` };
    return { ...at, text: `may start only when place '${place(arc.place)}' is empty (arc '${arc.name}'), but it has ${count(state.tokens[arc.place], 'token')}` };
  }
  if (why === 2) {
    const slots = net.places[what].capacity?.value;
    return { why, place: what, text: `waits for room in place '${place(what)}', which is full: ${count(state.tokens[what], 'token')}`
      + (state.tokens[what] < slots ? `, and ${grouped(slots - state.tokens[what])} on the way,` : '') + ` in ${count(slots, 'slot')}` };
  }
  if (why === 5) {
    const actor = record.segments.get(record.segmentOf(state.time)).transitions[k];
    const next = Math.min(...state.inFlight[k].map((f) => actor.due[f]));
    return { why, text: `waits for a free server: ${state.inFlight[k].length} of ${t.servers?.value ?? '∞'} busy, the next is free at ${grouped(next)}` };
  }
  return { why, text: why === 6 ? 'waits for its interval to pass' : "waits for its clock's edge" };
}

/** The sign of a reason: its colour and its letter. */
export function whySign(why) {
  return h('span', { class: 'why-sign', style: `border-left-color:var(--why${why})`, 'aria-hidden': 'true' }, LETTERS[why]);
}

// By which reasons are told apart without colours.
export const LETTERS = ['', 'T', 'C', 'G', 'I', 'S', 'V', 'K'];

/** What is under the pointer in the graph: elements. */
export function tipOf(net, run, state, id) {
  const k = Number(id.slice(1));
  if (id[0] === 'p') {
    const free = state.tokens[k] - heldTokens(net, run.record, state, k).total;
    return [h('h3', {}, net.places[k].name), h('p', {}, `${count(state.tokens[k], 'token')}, ${grouped(free)} of them free`), ...holders(net, run, state, k), ...freeLines(net, run, k, state.time, 6)];
  }
  const { why, text } = reasonOf(net, run, state, k);
  const n = state.inFlight[k].length;
  const actor = run.record.segments.get(run.record.segmentOf(state.time)).transitions[k];
  return [h('h3', {}, net.transitions[k].name), n ? h('p', {}, `${count(n, 'firing')} in flight`) : null,
    ...state.inFlight[k].slice(0, 2).flatMap((f) => takenLines(net, run, actor, k, f, 3)),
    h('p', {}, why ? whySign(why) : null, text)].filter(Boolean);
}

/** Who holds tokens of a place, a line each. */
export function holders(net, run, state, p) {
  return heldTokens(net, run.record, state, p).by.map(([k, n, due]) => h('p', { class: 'quiet' }, `${net.transitions[k].name} works on ${grouped(n)}, until ${grouped(due)}`));
}

function lines(found, before) {
  if (found === null) return [];
  const { rows, count: all } = found;
  const shown = rows.map((row) => h('p', { class: 'mono token' }, before, rowText(row)));
  if (all > rows.length) shown.push(h('p', { class: 'quiet' }, `… and ${grouped(all - rows.length)} more`));
  return shown;
}

const unknown = (net, run, p) => (run.values && net.types[net.places[p].type].fields.length
  ? [h('p', { class: 'quiet' }, `the page has the values of tokens up to cycle ${grouped(run.values.until - 1)}`)] : []);

/** The free tokens of a place after an instant, oldest first, a line each. */
export function freeLines(net, run, p, t, most) {
  if (!run.values) return [];
  return run.values.knows(t) ? lines(run.values.free(p, t, most), '') : unknown(net, run, p);
}

/** The tokens that a firing in flight took, a line each. */
export function takenLines(net, run, actor, k, f, most) {
  if (!run.values) return [];
  const [number, start] = [actor.number[f], actor.start[f]];
  return net.transitions[k].inputs.flatMap((arc) => (arc.kind === 'take'
    ? lines(run.values.taken(arc.place, k, number, start, most), `#${number} ${arc.name} `) : []));
}

/** What is under the pointer in the timeline: elements. */
export function timelineTip(net, run, row, state) {
  const { record } = run;
  const content = [h('h3', {}, row.name), h('p', { class: 'quiet' }, `cycle ${grouped(state.time)}${run.about.frequency ? ` = ${duration(state.time, run.about.frequency)}` : ''}`)];
  if (row.kind === 'p') return [...content, h('p', {}, count(state.tokens[row.k], 'token')), ...freeLines(net, run, row.k, state.time, 4)];
  const actor = record.segments.get(record.segmentOf(state.time)).transitions[row.k];
  for (const f of state.inFlight[row.k].slice(0, 4)) content.push(h('p', {}, `firing #${actor.number[f]}: ${grouped(actor.start[f])} to ${grouped(actor.due[f])}`), ...takenLines(net, run, actor, row.k, f, 2));
  const why = state.waits[row.k] % 8;
  if (why) content.push(h('p', {}, whySign(why), WAITS[why]));
  return content;
}
