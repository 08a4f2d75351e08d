// What the page carries: base64 of gzip in script elements, decoded when it is needed.

const CODES = new Uint8Array(128);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((c, k) => { CODES[c.charCodeAt(0)] = k; });

/** The bytes of base64 text without line breaks. */
export function fromBase64(text) {
  let length = text.length;
  while (length && text.charCodeAt(length - 1) === 61) --length;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let out = 0;
  for (let k = 0; k < length; k += 4) {
    const word = (CODES[text.charCodeAt(k)] << 18) | (CODES[text.charCodeAt(k + 1) & 127] << 12)
      | (CODES[(k + 2 < length ? text.charCodeAt(k + 2) : 65)] << 6) | CODES[(k + 3 < length ? text.charCodeAt(k + 3) : 65)];
    bytes[out++] = word >> 16;
    if (out < bytes.length) bytes[out++] = word >> 8;
    if (out < bytes.length) bytes[out++] = word;
  }
  return bytes;
}

function unzipped(base64) {
  return new Response(new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream('gzip')));
}

/** The bytes that were gzipped. */
export async function gunzip(base64) {
  return new Uint8Array(await unzipped(base64).arrayBuffer());
}

export function gunzipText(base64) {
  return unzipped(base64).text();
}

/** The text of the page's script element of that id; null when there is none. */
export function carried(id) {
  return document.getElementById(id)?.textContent ?? null;
}
