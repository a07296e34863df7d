const HIGH = 2 ** 32;

/**
 * The values of a PLAIN page of INT64 as numbers, from `at` in `into`; NaN where the definition levels say null. Numbers
 * beyond 2^53 lose their last digits. Throws a `RangeError` when the page holds less than it says.
 */
export function decodeInt64Page(
  plain: Uint8Array,
  levels: Uint8Array | null,
  count: number,
  into: Float64Array,
  at: number,
): void {
  const words = wordsOf(plain);
  if (levels === null) {
    requireWords(words, count);
    for (let i = 0; i < count; i++) into[at + i] = ((words[2 * i] ?? 0) >>> 0) + (words[2 * i + 1] ?? 0) * HIGH;
    return;
  }
  let next = 0;
  const present = (from: number, n: number): void => {
    requireWords(words, next + n);
    for (let i = 0; i < n; i++, next++) {
      into[at + from + i] = ((words[2 * next] ?? 0) >>> 0) + (words[2 * next + 1] ?? 0) * HIGH;
    }
  };
  eachLevelRun(levels, count, (from, n, isPresent) => {
    if (isPresent) present(from, n);
    else into.fill(NaN, at + from, at + from + n);
  });
}

/** Little-endian pairs; of the low word the sign is a digit. */
function wordsOf(plain: Uint8Array): Int32Array {
  const aligned = plain.byteOffset % 4 === 0 ? plain : plain.slice();
  return new Int32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 2);
}

function requireWords(words: Int32Array, values: number): void {
  if (words.length < 2 * values) throw new RangeError('a page holds less than it says');
}

/** Definition levels of one bit: Parquet's hybrid of runs and packed bits. Equal neighbours are told together. */
function eachLevelRun(
  levels: Uint8Array,
  count: number,
  told: (from: number, n: number, isPresent: boolean) => void,
): void {
  let at = 0;
  let done = 0;
  while (done < count) {
    let head = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = levels[at++];
      if (byte === undefined) throw new RangeError('the definition levels are torn');
      head |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if ((head & 1) === 0) {
      const n = Math.min(head >> 1, count - done);
      told(done, n, levels[at++] === 1);
      done += n;
    } else {
      const n = Math.min((head >> 1) * 8, count - done);
      for (let i = 0; i < n;) {
        const isPresent = bitAt(levels, at, i);
        let end = i + 1;
        while (end < n && bitAt(levels, at, end) === isPresent) end++;
        told(done + i, end - i, isPresent);
        i = end;
      }
      at += head >> 1;
      done += n;
    }
  }
}

const bitAt = (bytes: Uint8Array, at: number, i: number): boolean =>
  (((bytes[at + (i >> 3)] ?? 0) >> (i & 7)) & 1) === 1;
