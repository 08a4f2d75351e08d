// Bundles the page: page.js, wave.js, page.css, fonts.css, elk.b64 into one folder. node build.mjs OUT
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const out = process.argv[2] ?? join(here, 'dist');
mkdirSync(out, { recursive: true });

const font = (family, weight, file) => `@font-face{font-family:'${family}';font-weight:${weight};font-style:normal;`
  + `src:url(data:font/woff2;base64,${readFileSync(require.resolve(file)).toString('base64')}) format('woff2')}\n`;
writeFileSync(join(out, 'fonts.css'),
  font('Inter Variable', '100 900', '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')
  + font('JetBrains Mono', '400', '@fontsource/jetbrains-mono/files/jetbrains-mono-latin-400-normal.woff2'));

await build({
  entryPoints: { page: join(here, 'src/main.js'), wave: join(here, 'src/wave/main.js') },
  bundle: true, minify: true, format: 'iife', target: ['es2022'], charset: 'utf8', legalComments: 'none',
  outdir: out, logLevel: 'warning',
});
// What node needs to lay out and draw without a page.
await build({
  entryPoints: { graph: join(here, 'src/graph.js') },
  bundle: true, minify: true, format: 'esm', target: ['es2022'], charset: 'utf8', legalComments: 'none',
  outdir: out, logLevel: 'warning',
});
// Pictures by node: the same layout and drawing, resvg for pixels, and static fonts, which it wants.
await build({
  entryPoints: { export: join(here, 'src/export.js') },
  bundle: true, minify: true, format: 'esm', platform: 'node', target: ['node18'], charset: 'utf8',
  legalComments: 'none', outdir: out, outExtension: { '.js': '.mjs' }, logLevel: 'warning',
});
copyFileSync(require.resolve('@resvg/resvg-wasm/index_bg.wasm'), join(out, 'resvg.wasm'));
mkdirSync(join(out, 'fonts'), { recursive: true });
for (const file of ['inter/files/inter-latin-400-normal', 'inter/files/inter-latin-500-normal',
  'inter/files/inter-latin-600-normal', 'jetbrains-mono/files/jetbrains-mono-latin-400-normal']) {
  copyFileSync(require.resolve(`@fontsource/${file}.woff2`), join(out, 'fonts', basename(file) + '.woff2'));
}
await build({
  stdin: { contents: readFileSync(join(here, 'src/style.css'), 'utf8'), loader: 'css' },
  minify: true, outfile: join(out, 'page.css'), charset: 'utf8', logLevel: 'warning',
});

// The layout engine runs in a worker; it is large, so the page carries it compressed.
const elk = readFileSync(require.resolve('elkjs/lib/elk-worker.min.js'));
writeFileSync(join(out, 'elk.b64'), gzipSync(elk, { level: 9 }).toString('base64'));

const version = (name) => JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json'), 'utf8')).version;
writeFileSync(join(out, 'notice.txt'),
  `elkjs ${version('elkjs')} (Eclipse Public License 2.0), Inter ${version('@fontsource-variable/inter')} and `
  + `JetBrains Mono ${version('@fontsource/jetbrains-mono')} (SIL Open Font License 1.1)`);
