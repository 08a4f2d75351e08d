// Widths of text in the two fonts that the page embeds, so that boxes can be sized without a DOM.
//
// Inter: advances in 1/1000 em of the ASCII characters from the space on, measured from the font
// (Inter 5.3.0 of @fontsource-variable, at weights 400, 500, 600). JetBrains Mono: all are 600.
// The browser test measures them again.

const INTER = {
  400: [281, 288, 466, 633, 642, 982, 644, 300, 365, 365, 501, 662, 288, 460, 288, 360, 631, 407, 610, 618, 646,
    593, 620, 566, 619, 620, 288, 302, 662, 662, 662, 511, 966, 690, 654, 730, 722, 601, 590, 746, 743, 269, 571,
    672, 565, 903, 753, 765, 639, 765, 644, 642, 646, 744, 690, 985, 682, 679, 629, 365, 360, 365, 471, 456, 323,
    562, 612, 571, 612, 583, 370, 613, 591, 242, 242, 549, 242, 876, 591, 600, 612, 612, 376, 528, 327, 591, 562,
    818, 546, 562, 552, 426, 333, 426, 662],
  500: [267, 304, 494, 639, 646, 993, 653, 313, 369, 369, 521, 667, 303, 462, 303, 370, 646, 415, 616, 627, 656,
    603, 630, 571, 629, 630, 303, 315, 667, 667, 667, 527, 982, 709, 657, 733, 722, 603, 589, 748, 745, 272, 575,
    688, 565, 913, 756, 767, 642, 769, 648, 646, 653, 740, 709, 1003, 701, 696, 641, 369, 370, 369, 477, 463, 337,
    568, 618, 577, 618, 587, 379, 620, 602, 252, 252, 559, 252, 888, 602, 604, 618, 618, 387, 539, 340, 602, 575,
    829, 557, 575, 559, 440, 346, 440, 667],
  600: [252, 321, 523, 644, 650, 1004, 663, 326, 373, 373, 540, 673, 319, 465, 319, 379, 660, 423, 623, 636, 666,
    612, 640, 576, 640, 640, 319, 329, 673, 673, 673, 543, 999, 728, 659, 737, 722, 605, 588, 749, 746, 277, 580,
    703, 565, 922, 759, 769, 645, 773, 652, 650, 660, 736, 728, 1020, 720, 713, 652, 373, 379, 373, 481, 469, 351,
    574, 624, 583, 624, 591, 389, 625, 612, 262, 262, 569, 262, 900, 612, 609, 624, 624, 397, 549, 353, 612, 587,
    839, 569, 588, 566, 455, 359, 455, 673],
};
const INTER_OTHER = 910; // no character that we write beside ASCII is wider
const MONO = 600;

/** Width in px of `text` in Inter of that size (px) and weight (400, 500 or 600). */
export function sansWidth(text, size, weight = 500) {
  const table = INTER[weight];
  let sum = 0;
  for (const c of text) sum += table[c.codePointAt(0) - 32] ?? INTER_OTHER;
  return (sum * size) / 1000;
}

/** Width in px of `text` in JetBrains Mono of that size (px). */
export function monoWidth(text, size) {
  return ([...text].length * MONO * size) / 1000;
}

/** `text` cut to so many characters, with … in place of what is missing. */
export function cut(text, most) {
  const characters = [...text];
  return characters.length <= most ? text : characters.slice(0, most - 1).join('') + '…';
}

/** For SVG and HTML text and attributes. */
export function escape(text) {
  return String(text).replace(/[&<>"']/g,
    (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);
}

/** The whole number >= 0 that someone typed, grouped or not; null for anything else. */
export function typedNumber(text) {
  const digits = text.replace(/[\s\u202f]/g, '');
  return /^\d+$/.test(digits) ? Number(digits) : null;
}

/** So many ticks of a clock of `hz`, to read: "1.69 ms". */
export function duration(ticks, hz) {
  const value = ticks / hz;
  const [unit, scale] = [['s', 1], ['ms', 1e-3], ['µs', 1e-6], ['ns', 1e-9]].find(([, least]) => value >= least) ?? ['ps', 1e-12];
  const shown = value / scale;
  const four = shown >= 1 && shown < 1000 ? fixed(shown, shown < 10 ? 3 : shown < 100 ? 2 : 1) : shown.toPrecision(4);
  return `${Number(four)}\u202f${unit}`;
}

/** With so many digits behind the point; what lies in the middle goes to the even digit, as where lpn prints it. */
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  const exact = value.toFixed(60);
  const end = exact.length - 60 + digits;
  if (!/^50*$/.test(exact.slice(end))) return text;
  const below = exact.slice(0, digits ? end : end - 1);
  return Number(below[below.length - 1]) % 2 ? text : below;
}

/** 1234567 as "1 234 567" (narrow spaces at which no line breaks). */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}
