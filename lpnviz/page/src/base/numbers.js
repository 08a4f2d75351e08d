// Numbers as the page carries them, and sorted lists of them. Pure: no DOM.

/** Reads LEB128 numbers below 2^53. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    const { bytes } = this;
    let b = bytes[this.at++];
    if (b < 128) return b;
    let value = b & 127;
    let scale = 128;
    do {
      b = bytes[this.at++];
      value += (b & 127) * scale;
      scale *= 128;
    } while (b >= 128);
    return value;
  }

  /** A signed number of 64 bits, as a BigInt. */
  wide() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const b = this.bytes[this.at++];
      value |= BigInt(b & 127) << shift;
      if (b < 128) return value & 1n ? -(value + 1n) / 2n : value / 2n;
    }
  }

  /** A signed number of at most 53 bits: its sign apart, since both are one too many for a double. */
  signed() {
    let b = this.bytes[this.at++];
    const negative = b & 1;
    let value = (b & 127) >> 1;
    for (let scale = 64; b >= 128; scale *= 128) {
      b = this.bytes[this.at++];
      value += (b & 127) * scale;
    }
    return negative ? -value - 1 : value;
  }
}

/** Index of the last element <= x in sorted `list`, or -1. */
export function lastUpTo(list, x) {
  let [lo, hi] = [0, list.length];
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[mid] <= x) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}
