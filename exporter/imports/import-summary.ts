import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlockShelf } from '../../core/measures/block-shelf.ts';
import type { ChunkRecord } from '../../core/measures/chunk-reading.ts';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import type { PhaseSummary } from '../../core/measures/summary.ts';
import { instantAt } from '../../core/run/instant.ts';
import { NOT_TRACED, PHASES } from '../../core/run/record.ts';
import type { ErrorReason, PhaseName, RequestRecord, TokenSource } from '../../core/run/record.ts';
import type { PhaseWindow } from '../../core/run/run.ts';
import type { ImportNotes } from './import-notes.ts';
import type { MeasuredRequests, ImportedRun } from './importer.ts';

/** Summarizes the records of an import while they pass, and passes on only those that can be true. */
export class ImportSummary {
  readonly #imported: ImportedRun;
  readonly #notes: ImportNotes;
  readonly #summary: SummaryAccumulator;
  readonly #edges = new Map<PhaseName, { start_ns: number; end_ns: number }>();
  readonly #sources = { input: new Set<TokenSource | null>(), output: new Set<TokenSource | null>() };
  /** When the ok requests of the warm-up ended. */
  readonly #warmupEnds_ns: number[] = [];
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  #records = 0;

  /** `shelf`: where the figures of the requests are kept. */
  constructor(imported: ImportedRun, shelf: BlockShelf) {
    this.#imported = imported;
    this.#notes = imported.notes;
    const load = imported.key.load ?? null;
    this.#summary = new SummaryAccumulator({
      shelf,
      plannedConcurrency: load?.mode === 'concurrency' ? load.concurrency : null,
    });
  }

  /** How many records were passed on. */
  get records(): number {
    return this.#records;
  }

  /** The records that can be true, as they come; what is left out is in the notes. */
  async *checked(records: AsyncIterable<RequestRecord>): AsyncGenerator<RequestRecord> {
    for await (const record of records) {
      const fault = faultOf(record);
      if (fault !== null) {
        this.#notes.count(`records left out: ${fault}`, `request ${record.index}`);
        continue;
      }
      this.#add(record);
      yield record;
    }
  }

  /** `readBack` reads the same records once more; it is called when something depends on it. */
  async summarize(readBack: () => AsyncIterable<ChunkRecord>): Promise<PhaseSummary> {
    if (!this.#summary.needsChunks) return this.#summary.summarizeInSteps(null, nextTurn);
    const reading = this.#summary.chunkReading();
    for await (const record of readBack()) reading.add(record);
    return this.#summary.summarizeInSteps(reading, nextTurn);
  }

  /** The phases, from the first request sent to the end of the last. */
  get phases(): PhaseWindow[] {
    const { start } = this.#imported;
    return PHASES.flatMap((phase) => {
      const edges = this.#edges.get(phase);
      if (edges === undefined) return [];
      return [{ phase, start: instantAt(start, edges.start_ns), end: instantAt(start, edges.end_ns) }];
    });
  }

  /** When the last request had ended; null without a time. */
  get end(): string | null {
    const ends = [...this.#edges.values()].map(({ end_ns }) => end_ns);
    return ends.length === 0 ? null : instantAt(this.#imported.start, Math.max(...ends));
  }

  /** What the servers' side is seen through. */
  get measured(): MeasuredRequests {
    const edges = this.#edges.get('measure');
    const warmupAfter = (at_ns: number): number => this.#warmupEnds_ns.filter((end_ns) => end_ns > at_ns).length;
    return { window: edges ?? null, requests: { ...this.#summary.requests, errors: { ...this.#errors } }, warmupAfter };
  }

  /** Who counted the tokens; the server only when it did for every request. Null: they were not counted. */
  tokenSource(side: 'input' | 'output'): TokenSource | null {
    const sources = this.#sources[side];
    if (sources.has('tokenizer')) return 'tokenizer';
    return sources.has('usage') ? 'usage' : null;
  }

  #add(record: RequestRecord): void {
    this.#records += 1;
    this.#summary.add(record);
    const { phase, reason } = record;
    if (phase === 'warmup' && record.outcome === 'ok') this.#warmupEnds_ns.push(record.end_ns);
    if (phase === 'measure' && reason !== null) this.#errors[reason] = (this.#errors[reason] ?? 0) + 1;
    if (record.outcome === 'ok' && record.phase === 'measure') {
      this.#sources.input.add(record.input_tokens_source);
      this.#sources.output.add(record.output_tokens_source);
    }
    const edges = this.#edges.get(record.phase);
    if (edges === undefined) this.#edges.set(record.phase, { start_ns: record.sent_ns, end_ns: record.end_ns });
    else {
      edges.start_ns = Math.min(edges.start_ns, record.sent_ns);
      edges.end_ns = Math.max(edges.end_ns, record.end_ns);
    }
  }
}

/** Why a record cannot be true: a clock that jumped, or a fault of the tool; null when it can. */
function faultOf(record: RequestRecord): string | null {
  const { sent_ns, first_content_ns: first, last_content_ns: last, end_ns, chunk_offsets_ns: offsets } = record;
  const times = [sent_ns, end_ns, first ?? 0, last ?? 0, record.due_ns ?? 0];
  if (!times.every(Number.isSafeInteger)) return 'a time is not a whole number of nanoseconds';
  if (end_ns < sent_ns) return 'it ended before it was sent';
  if (first !== null && first < sent_ns) return 'negative time to first token';
  if (first !== null && last !== null && last < first) return 'its last chunk is before its first';
  const isCount = (value: number | null): boolean =>
    value === null || (Number.isInteger(value) && value >= 0 && value < 2 ** 31);
  const tokens = [record.input_tokens, record.output_tokens, record.reasoning_tokens, record.cached_tokens];
  if (!tokens.every(isCount)) return 'a token count is not a whole number of 0 or more';
  for (let i = 0; i < offsets.length; i++) {
    const gap = (offsets[i] ?? NaN) - (offsets[i - 1] ?? 0);
    if (!(gap >= 0)) return 'its chunks are not in order of time';
  }
  const { first_output_ns, connect_ns, http_status, requested_output_tokens } = record;
  const others = [offsets.at(-1), first_output_ns, connect_ns, ...HTTP_PHASES.map((name) => record[name])];
  if (others.some((value) => value != null && !Number.isSafeInteger(value)))
    return 'a time is not a whole number of nanoseconds';
  return isCount(http_status) && isCount(requested_output_tokens)
    ? null
    : 'its HTTP status or requested length is not a whole number of 0 or more';
}

const HTTP_PHASES = Object.keys(NOT_TRACED) as (keyof typeof NOT_TRACED)[];
