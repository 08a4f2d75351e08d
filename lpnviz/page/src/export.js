// Pictures without a browser: node export.mjs < job.json > picture. By the page's own layout and
// drawing; resvg makes pixels of SVG.
//
//   { net: the description of a net, folder: where fonts.css, resvg.wasm and fonts/ are,
//     format: 'svg' | 'png', theme: 'light' | 'dark', collapsed: [group], credits: bool,
//     width: of pixels, or null for two per px of the drawing }
//
// Standard output gets the file. What is wrong with the job is on standard error, status 1.

import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { initWasm, Resvg } from '@resvg/resvg-wasm';
import ELK from 'elkjs/lib/elk.bundled.js';

import { drawSvg } from './draw.js';
import { groupsOf, layoutNet } from './layout.js';
import { readNet } from './net.js';

const MOST_PIXELS = 200e6; // of one picture: resvg needs 4 bytes for each

function write(bytes) {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error; // a pipe that is full for now
    }
  }
}

/** Something that makes an image of SVG text: pixels as RGBA, or PNG. */
async function rasterizer(folder, layout, width) {
  await initWasm(readFileSync(join(folder, 'resvg.wasm')));
  const fonts = join(folder, 'fonts');
  const fontBuffers = readdirSync(fonts).sort().map((name) => readFileSync(join(fonts, name)));
  const wide = width ?? Math.ceil(layout.width) * 2;
  const pixels = wide * Math.ceil((layout.height * wide) / layout.width);
  if (pixels > MOST_PIXELS) throw new Error(`${pixels} pixels; choose a smaller --width, or close groups`);
  const options = {
    fitTo: { mode: 'width', value: wide },
    font: { fontBuffers, loadSystemFonts: false, defaultFontFamily: 'Inter', sansSerifFamily: 'Inter',
      monospaceFamily: 'JetBrains Mono' },
  };
  return (svg) => new Resvg(svg, options).render();
}

async function main() {
  const job = JSON.parse(readFileSync(0, 'utf8'));
  const net = readNet(job.net);
  const { groups } = groupsOf(net);
  for (const group of job.collapsed) {
    if (!groups.has(group)) throw new Error(`there is no group '${group}'; groups: ${[...groups.keys()].join(', ') || 'none'}`);
  }
  const view = { collapsed: new Set(job.collapsed), credits: job.credits };
  const layout = await layoutNet(net, view, new ELK());
  if (job.format === 'svg') {
    const fonts = readFileSync(join(job.folder, 'fonts.css'), 'utf8');
    write(Buffer.from(drawSvg(net, layout, { theme: job.theme, fonts })));
    return;
  }
  const image = await rasterizer(job.folder, layout, job.width);
  write(image(drawSvg(net, layout, { theme: job.theme })).asPng());
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
