// Messages of the server: hyloop.live.protocol says what they are.
const words = new TextDecoder();

export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(words.decode(new Uint8Array(buffer, 4, length)));
  return [header, new Float32Array(buffer, 4 + length)];
}

export function* parts(header, numbers) { // each part with its own numbers
  let at = 0;
  for (const part of header.parts) {
    const [, , count, , width, lines] = part, many = count * width * lines;
    yield [part, numbers.subarray(at, at + many)];
    at += many;
  }
}
