// ELK in a worker; in the page itself where a browser allows no workers made of text.

import ELK from 'elkjs/lib/elk-api.js';

import { gunzipText } from '../base/data.js';

/** Something with layout(graph). `source`: base64 of the gzipped worker. */
export async function startElk(source) {
  const code = await gunzipText(source);
  try {
    const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    return new ELK({ workerFactory: () => new Worker(url) });
  } catch {
    return new ELK({ workerFactory: () => inPage(code) });
  }
}

// The worker's code in this thread, behind the same messages.
function inPage(code) {
  const here = { onmessage: null };
  const self = { postMessage: (data) => setTimeout(() => here.onmessage?.({ data })) };
  const module = { exports: {} };
  new Function('self', 'module', 'exports', 'document', code)(self, module, module.exports, undefined);
  return {
    postMessage: (data) => setTimeout(() => self.onmessage({ data })),
    terminate() {},
    set onmessage(f) { here.onmessage = f; },
    get onmessage() { return here.onmessage; },
  };
}
