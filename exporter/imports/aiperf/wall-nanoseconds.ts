import { readLineBlocks } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

const NS_PER_S = 1_000_000_000n;
const NS_PER_MS = 1_000_000n;

/**
 * Nanoseconds since 1970 under a key in the text of a JSON line, counted from `zero_ns`. Wall clocks in nanoseconds are
 * above 2^53, where JSON.parse rounds. Null when the key is missing or its value is not a whole number.
 */
export function wallNanoseconds(text: string, key: string, zero_ns: bigint): number | null {
  const name = `"${key}":`;
  const found = text.indexOf(name);
  if (found < 0) return null;
  let from = found + name.length;
  while (text.charCodeAt(from) === SPACE) from += 1;
  let to = from;
  while (isDigit(text.charCodeAt(to))) to += 1;
  // 8 digits of seconds is 1973; a fraction or an exponent is not how AIPerf writes them.
  if (to - from < 17 || to - from > 19) return null;
  const seconds = Number(text.slice(from, to - 9)) - Number(zero_ns / NS_PER_S);
  return seconds * 1e9 + (Number(text.slice(to - 9, to)) - Number(zero_ns % NS_PER_S));
}

const SPACE = 0x20;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** What is earlier than the first line by more than this comes from a clock that jumped. */
const MAX_RUN_NS = 30n * 86_400n * NS_PER_S;

/**
 * The earliest time under the keys in a file of JSON lines, down to the millisecond; null when there is none. `onBlock`
 * receives the bytes of each block of lines.
 */
export async function earliestNanoseconds(
  file: SourceFile,
  keys: readonly string[],
  reading: Reading,
  onBlock: (bytes: Buffer) => void = () => undefined,
): Promise<bigint | null> {
  const names = keys.map((key) => Buffer.from(`"${key}":`));
  let first: bigint | null = null;
  let earliest: bigint | null = null;
  // A line that is too long is noted when the records are read.
  const passOver = (): void => undefined;
  for await (const { bytes } of readLineBlocks(file, reading, passOver)) {
    onBlock(bytes);
    for (const name of names) {
      for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + name.length)) {
        const digits = /^\s*(\d{17,19})(?![\d.eE])/.exec(
          bytes.toString('latin1', at + name.length, at + name.length + 24),
        )?.[1];
        if (digits === undefined) continue;
        const value = BigInt(digits);
        first ??= value;
        if (value > first - MAX_RUN_NS && (earliest === null || value < earliest)) earliest = value;
      }
    }
  }
  return earliest === null ? null : earliest - (earliest % NS_PER_MS);
}
