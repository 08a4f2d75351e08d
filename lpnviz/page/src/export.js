// Pictures without a browser: node export.mjs < job.json > picture. By the page's own layout and
// drawing; resvg makes pixels of SVG.
//
//   { net: the description of a net, folder: where fonts.css, resvg.wasm and fonts/ are,
//     format: 'svg' | 'png' | 'frames' | 'layout' (JSON: where each part is), theme: 'light' | 'dark', collapsed: [group], credits: bool,
//     width: in pixels, or null; for frames:
//     record: { index, overview, segments: { number: bytes } } in base64, of a run (record.js),
//     times: of the frames, in cycles, may lie between two; trail: cycles a token is on its way }
//
// Standard output gets the file, or for frames a line of JSON { width, height, frames } and then the
// frames, 4 bytes RGBA a pixel. What is wrong with the job is on standard error, status 1.

import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { initWasm, Resvg } from '@resvg/resvg-wasm';
import ELK from 'elkjs/lib/elk.bundled.js';

import { fromBase64 } from './base/data.js';
import { CAPTION, drawSvg } from './net/draw.js';
import { EDGE_TEXT, groupsOf, layoutNet, LINE, NAME, TITLE } from './net/layout.js';
import { drawMoment, levelsAt } from './run/moment.js';
import { readNet } from './net/net.js';
import { Record } from './run/record.js';
import { grouped, monoWidth, sansWidth } from './base/text.js';

const MOST_PIXELS = 200e6; // of one picture: resvg needs 4 bytes for each
const FRAME_WIDTH = 1280; // pixels of a frame at most, unless asked for

function write(bytes) {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error; // a pipe that is full for now
    }
  }
}

const FONTS = { title: TITLE, name: NAME };

/** SVG text in which each character of names and formulas has its own place: resvg does not know
 * font-variant-ligatures, and would write 16x16 as 16×16 and >= as one sign. */
export function withoutLigatures(svg) {
  return svg.replace(/<text class="(title|name|mono|mono line)" x="([\d.-]+)" y="([\d.-]+)">(<title>[^<]*<\/title>)?([^<]+)<\/text>/g, (all, kind, x, y, title, text) => {
    const size = kind === 'mono' ? EDGE_TEXT.size : LINE.size;
    const width = (text_) => (FONTS[kind] ? sansWidth(text_, FONTS[kind].size, FONTS[kind].weight) : monoWidth(text_, size));
    const characters = text.match(/&#?\w+;|./gsu);
    let at = Number(x);
    const places = characters.map((c) => {
      const here = at;
      at += width(c.length > 1 && c[0] === '&' ? '&' : c);
      return here.toFixed(2);
    });
    return `<text class="${kind}" x="${places.join(' ')}" y="${y}">${text}</text>`;
  });
}

/** What makes an image (RGBA pixels, PNG) of SVG text of that size in px. */
async function rasterizer(folder, [w, h], wide) {
  await initWasm(readFileSync(join(folder, 'resvg.wasm')));
  const fonts = join(folder, 'fonts');
  const fontBuffers = readdirSync(fonts).sort().map((name) => readFileSync(join(fonts, name)));
  const pixels = wide * Math.ceil((h * wide) / w);
  if (pixels > MOST_PIXELS) throw new Error(`${pixels} pixels; choose a smaller --width, or close groups`);
  const options = {
    fitTo: { mode: 'width', value: wide },
    font: { fontBuffers, loadSystemFonts: false, defaultFontFamily: 'Inter', sansSerifFamily: 'Inter',
      monospaceFamily: 'JetBrains Mono' },
  };
  return (svg) => {
    const drawing = new Resvg(withoutLigatures(svg), options);
    try {
      return drawing.render();
    } finally {
      drawing.free(); // its memory is WebAssembly's, which nobody collects
    }
  };
}

async function main() {
  const job = JSON.parse(readFileSync(0, 'utf8'));
  const net = readNet(job.net);
  const { groups } = groupsOf(net);
  for (const group of job.collapsed) {
    if (groups.has(group)) continue;
    throw new Error(`there is no group '${group}'; groups: ${[...groups.keys()].join(', ') || 'none'}`);
  }
  const view = { collapsed: new Set(job.collapsed), credits: job.credits };
  const layout = await layoutNet(net, view, new ELK());
  if (job.format === 'layout') {
    const node = ({ kind, index, x, y, w, h }) => ({ kind, index, x, y, w, h });
    write(Buffer.from(JSON.stringify(layout.nodes.filter((n) => n.index !== undefined).map(node))));
    return;
  }
  if (job.format === 'svg') {
    const fonts = readFileSync(join(job.folder, 'fonts.css'), 'utf8');
    write(Buffer.from(drawSvg(net, layout, { theme: job.theme, fonts })));
    return;
  }
  const [w, h] = [Math.ceil(layout.width), Math.ceil(layout.height)];
  if (job.format === 'png') {
    const image = await rasterizer(job.folder, [w, h], job.width ?? 2 * w);
    write(image(drawSvg(net, layout, { theme: job.theme })).asPng());
    return;
  }
  const image = await rasterizer(job.folder, [w, h + CAPTION], job.width ?? Math.min(w, FRAME_WIDTH));
  await frames(job, net, layout, image);
}

async function frames(job, net, layout, image) {
  const { index, overview, segments } = job.record;
  const record = new Record(index, net, async (k) => fromBase64(segments[k]), fromBase64(overview));
  const peaks = record.overview.places.map(({ most }) => (most ?? []).reduce((a, b) => Math.max(a, b), 0));
  let first = true;
  for (const time of job.times) {
    await record.load(Math.max(0, time - job.trail), time);
    const { tokens, waits } = record.stateAt(time);
    const made = image(drawSvg(net, layout, { theme: job.theme, caption: `cycle ${grouped(Math.floor(time))}`,
      state: { levels: levelsAt(net, tokens, peaks), waits },
      overlay: drawMoment(net, layout, record, time, job.trail) }));
    const { width, height } = made;
    if (first) write(Buffer.from(JSON.stringify({ width, height, frames: job.times.length }) + '\n'));
    first = false;
    write(made.pixels);
    made.free();
  }
}

main().catch((error) => {
  const deep = error instanceof RangeError && error.message.includes('call stack');
  process.stderr.write(`${deep ? 'a chain of the net is too long to be laid out; draw groups closed (--collapse), or allow more stack (ulimit -s)' : error.message}\n`);
  process.exitCode = 1;
});
