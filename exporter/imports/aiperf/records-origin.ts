import { ImportRefusal } from '../import-refusal.ts';
import { readLineBlocks } from '../reading/read-lines.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

const NS_PER_S = 1_000_000_000n;
const NS_PER_MS = 1_000_000n;

/** What holds for all lines of a file of records. */
export interface RecordsOrigin {
  /** Nanoseconds since 1970 from which the times of the records count: the earliest of them, down to the millisecond. */
  readonly zero_ns: bigint;
  /**
   * Whether any response reports its tokens in its usage. Where one does, the tokens of a response without usage are
   * unknown: counts by AIPerf's tokenizer are another measure.
   */
  readonly usage: { readonly input: boolean; readonly output: boolean };
}

const TIMES = ['credit_issued_ns', 'request_start_ns'].map((key) => Buffer.from(`"${key}":`));
const DIGITS = /^\s*(\d{17,19})(?![\d.eE])/;

/** What is earlier than the first line by more than this comes from a clock that jumped. */
const MAX_RUN_NS = 30n * 86_400n * NS_PER_S;

/** Goes through a file of records once, before they are read. Throws `ImportRefusal` when no line has a time. */
export async function recordsOrigin(records: SourceFile, reading: Reading): Promise<RecordsOrigin> {
  const usage = { input: false, output: false };
  let first: bigint | null = null;
  let earliest: bigint | null = null;
  // A line that is too long is noted when the records are read.
  for await (const { bytes } of readLineBlocks(records, reading, () => undefined)) {
    usage.input ||= bytes.includes('"usage_prompt_tokens"');
    usage.output ||= bytes.includes('"usage_completion_tokens"');
    for (const name of TIMES) {
      for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + name.length)) {
        const digits = DIGITS.exec(bytes.toString('latin1', at + name.length, at + name.length + 24))?.[1];
        if (digits === undefined) continue;
        const value = BigInt(digits);
        first ??= value;
        if (value > first - MAX_RUN_NS && (earliest === null || value < earliest)) earliest = value;
      }
    }
  }
  if (earliest !== null) return { zero_ns: earliest - (earliest % NS_PER_MS), usage };
  throw new ImportRefusal(`${records.name}: no line has the time when its request was sent (request_start_ns)`);
}

const SPACE = 0x20;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

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
