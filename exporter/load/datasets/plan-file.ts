import { seededRandom, type Random } from '../../../core/stats/seeded-random.ts';
import { isRecordedLoad, type RecordedLoad, type LoadCourse, type TokenCounts } from '../../../core/run/load.ts';
import { ConfigurationError } from '../../errors/expected-error.ts';
import type { Dataset } from './dataset.ts';
import { requireCount, type FileDatasetOptions } from './file-dataset.ts';
import { eachLine } from './input-lines.ts';
import { InputRow } from './row.ts';
import { hashIdsOf, traceDataset, TraceRows } from './trace-dataset.ts';

const VERSION = 1;
/** A multiple of the blocks of the servers' caches; what a prompt shares is rounded to it. */
const BLOCK_TOKENS = 64;
/** So many rows are about 300 MB of text. */
const MAX_PLANNED = 5_000_000;

/**
 * The lines of a plan: a header with its source, and a request per line. The same load and seed give the same lines. Throws a
 * `ConfigurationError` when nothing is left to send, or too much.
 */
export function* planLines({ source, lengths }: LoadCourse, seed: number): Generator<string> {
  const { requests, slot_seconds, compress, scale } = source;
  const planned = Math.round(requests.reduce((sum, n) => sum + n, 0) * (scale / compress));
  if (planned === 0)
    throw new ConfigurationError('the plan has no request: take a longer window, a larger --scale or less --compress');
  if (planned > MAX_PLANNED)
    throw new ConfigurationError(
      `the plan would have ${planned} requests, at most ${MAX_PLANNED}: take a larger --compress or a smaller --scale`,
    );
  yield `${JSON.stringify({ llmbench_plan: VERSION, block_tokens: BLOCK_TOKENS, seed, source })}\n`;
  const random = seededRandom(`${seed}/plan`);
  const inputs = lengthsOf(
    source.input_tokens,
    lengths.map((slot) => slot.input),
    random,
  );
  const outputs =
    source.output_tokens &&
    lengthsOf(
      source.output_tokens,
      lengths.map((slot) => slot.output),
      random,
    );
  const shared = sharedBlocks(source.cached_input_ratio ?? 0);
  const seconds = slot_seconds / compress;
  let [recorded, sent] = [0, 0];
  for (const [slot, n] of requests.entries()) {
    recorded += n;
    const count = Math.round(recorded * (scale / compress)) - sent;
    const times = Array.from({ length: count }, () => (slot + random()) * seconds).sort((a, b) => a - b);
    const input = inputs(slot, count);
    const output = outputs?.(slot, count);
    for (const [i, time] of times.entries()) {
      const input_length = input[i] ?? 1;
      const hash_ids = shared(input_length);
      yield `${JSON.stringify({
        // A trace begins with its first request.
        timestamp: sent === 0 ? 0 : Math.round(time * 1e6) / 1e3,
        input_length,
        ...(output && { output_length: output[i] }),
        ...(hash_ids.length === 0 ? {} : { hash_ids }),
      })}\n`;
      sent += 1;
    }
  }
}

/** The lengths of n requests of a slot. */
type SlotSampler = (slot: number, n: number) => readonly number[];

/** Multiples of it, modulo 1, lie evenly however many there are: those of many small slots have the source's mean together. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/**
 * Samples at equal steps of the distribution of a slot, in a random order; slots without one have what the others leave of the
 * source. Within a bucket the values lie so that the mean of all requests is that of the source: how they really lie is unknown.
 */
function lengthsOf(source: TokenCounts, slots: readonly (readonly number[] | null)[], random: Random): SlotSampler {
  const { bounds, counts: all } = source;
  const rest = all.map((count, i) => slots.reduce((left, own) => Math.max(0, left - (own?.[i] ?? 0)), count));
  const edges = all.map((_, i): [number, number] => {
    const low = i === 0 ? 0 : (bounds[i - 1] ?? 0);
    return [low, bounds[i] ?? 2 * low];
  });
  const power = 1 / meanPlace(source, edges) - 1;
  const lengthIn = (bucket: number, share: number): number => {
    const [low, high] = edges[bucket] ?? [0, 1];
    const value = Math.ceil(low + (high - low) * share ** power);
    return Math.max(1, Math.floor(low) + 1, Math.min(Math.floor(high), value));
  };
  let offset = random();
  return (slot, n) => {
    const own = [slots[slot], rest].find((counts) => counts?.some((count) => count > 0)) ?? all;
    const total = own.reduce((sum, count) => sum + count, 0);
    if (n > 0) offset = (offset + GOLDEN_RATIO) % 1;
    let [bucket, before] = [0, 0];
    const lengths = Array.from({ length: n }, (_, i) => {
      const rank = ((i + offset) / n) * total;
      while (bucket < own.length - 1 && rank >= before + (own[bucket] ?? 0)) before += own[bucket++] ?? 0;
      return lengthIn(bucket, (rank - before) / Math.max(1, own[bucket] ?? 1));
    });
    return shuffled(lengths, random);
  };
}

/** Where values lie within their buckets on average, between 0 and 1, for the mean of the source. */
function meanPlace({ counts, mean }: TokenCounts, edges: readonly (readonly [number, number])[]): number {
  const total = counts.reduce((sum, n) => sum + n, 0);
  let [lowest, width] = [0, 0];
  for (const [i, [low, high]] of edges.entries()) {
    lowest += (low * (counts[i] ?? 0)) / total;
    width += ((high - low) * (counts[i] ?? 0)) / total;
  }
  // Lengths are whole numbers above the lower edge, half a token more on average than what they are rounded from.
  const place = (mean - lowest - 0.5) / width;
  return Math.min(0.999, Math.max(0.001, place));
}

function shuffled(values: number[], random: Random): readonly number[] {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [values[i], values[j]] = [values[j] ?? 0, values[i] ?? 0];
  }
  return values;
}

/** Blocks with which each prompt begins, the same for all, so that a cache can hold this share of all prompt tokens. */
function sharedBlocks(ratio: number): (tokens: number) => readonly number[] {
  let open = 0;
  return (tokens) => {
    open += ratio * tokens;
    // The last token of a prompt is always computed.
    const blocks = Math.max(0, Math.min(Math.round(open / BLOCK_TOKENS), Math.floor((tokens - 1) / BLOCK_TOKENS)));
    open -= blocks * BLOCK_TOKENS;
    return Array.from({ length: blocks }, (_, id) => id);
  };
}

/** Reads a plan. Throws a `ConfigurationError` with the line. */
export async function planDataset(options: FileDatasetOptions): Promise<Dataset> {
  const { file } = options;
  const rows = new TraceRows();
  let header: { readonly source: RecordedLoad; readonly blockTokens: number } | null = null;
  const sha256 = await eachLine(file, (line) => {
    const row = InputRow.parse(file, line);
    if (header === null) {
      header = headerOf(row);
      return;
    }
    const inputTokens = row.tokens('input_length') ?? row.refuse('input_length is missing');
    const due_ms = row.milliseconds('timestamp') ?? row.refuse('timestamp is missing');
    const hashIds = hashIdsOf(row, inputTokens, header.blockTokens);
    rows.push(
      { due_ns: Math.round(due_ms * 1e6), inputTokens, outputTokens: row.tokens('output_length'), hashIds },
      file,
    );
  });
  requireCount(rows.count, file);
  const { source, blockTokens } = header as unknown as ReturnType<typeof headerOf>;
  const trace = { type: 'llmbench_plan', rows, sha256, blockTokens, untimed: allHaveTimes };
  return { ...traceDataset(trace, options), recordedLoad: source };
}

function headerOf(row: InputRow): { readonly source: RecordedLoad; readonly blockTokens: number } {
  if (row.json['llmbench_plan'] !== VERSION)
    row.refuse(`llmbench_plan must be ${VERSION}: make the plan again with llmbench plan`);
  const { source } = row.json;
  if (!isRecordedLoad(source)) row.refuse('source is not that of a plan');
  return { source, blockTokens: row.tokens('block_tokens') ?? row.refuse('block_tokens is missing') };
}

function allHaveTimes(): never {
  throw new RangeError('every row has a time');
}
