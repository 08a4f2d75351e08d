// The values of tokens, for whoever points at a place or a firing: which are free in a place after an
// instant, which ones a firing took. Formats: lpnviz/README.md ("The values of tokens"). Pure: no DOM.

import { lastUpTo, Reader } from '../base/numbers.js';

function readTimes(reader, count) {
  const times = new Float64Array(count);
  for (let k = 0, t = 0; k < count; ++k) times[k] = t += reader.next();
  return times;
}

function readColumn(reader, count) {
  if (reader.next()) return Array.from({ length: count }, () => reader.wide());
  const column = new Float64Array(count);
  for (let k = 0, v = 0; k < count; ++k) column[k] = v += reader.signed();
  return column;
}

export class TokenValues {
  constructor(bytes, net) {
    const reader = new Reader(bytes);
    this.until = reader.next(); // instants before this one are known
    this.places = net.places.map((place) => {
      const fields = net.types[place.type].fields.map((f) => f.name);
      if (!fields.length) return null;
      const initial = reader.next();
      const times = readTimes(reader, reader.next());
      const columns = fields.map(() => readColumn(reader, initial + times.length));
      const count = reader.next();
      const takeTimes = readTimes(reader, count);
      const who = Array.from({ length: count }, () => reader.next());
      const taken = new Float64Array(count + 1); // before each start
      for (let k = 0; k < count; ++k) taken[k + 1] = taken[k] + reader.next();
      return { fields, initial, times, columns, takeTimes, who, taken };
    });
  }

  knows(t) {
    return t < this.until;
  }

  row(place, k) {
    return place.fields.map((name, f) => [name, String(place.columns[f][k])]);
  }

  /** Up to `most` of the free tokens of place p after the instant t, oldest first, each a list of [property, value]; and how many
   * there are. null: not known, or tokens of that place only count. */
  free(p, t, most) {
    const place = this.places[p];
    if (!place || !this.knows(t)) return null;
    const from = place.taken[lastUpTo(place.takeTimes, t) + 1];
    const to = place.initial + lastUpTo(place.times, t) + 1;
    const rows = [];
    for (let k = from; k < Math.min(to, from + most); ++k) rows.push(this.row(place, k));
    return { rows, count: to - from };
  }

  /** The tokens that firing `number` of transition k took from place p, likewise. `start`: when. */
  taken(p, k, number, start, most) {
    const place = this.places[p];
    if (!place || !this.knows(start)) return null;
    this.starts ??= new Map();
    const key = `${p} ${k}`;
    if (!this.starts.has(key)) this.starts.set(key, place.who.flatMap((who, i) => (who === k ? [i] : [])));
    const i = this.starts.get(key)[number];
    if (i === undefined) return null;
    const [from, to] = [place.taken[i], place.taken[i + 1]];
    const rows = [];
    for (let j = from; j < Math.min(to, from + most); ++j) rows.push(this.row(place, j));
    return { rows, count: to - from };
  }
}

/** "size=3 kind=1" of a row. */
export function rowText(row) {
  return row.map(([name, value]) => `${name}=${value}`).join(' ');
}
