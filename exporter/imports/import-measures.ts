import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlockShelf } from '../../core/measures/ascending-values.ts';
import type { ChunkRecord } from '../../core/measures/chunk-reading.ts';
import {
  ALL_TOKEN_DEFINITIONS,
  isForeign,
  INPUT_TOKEN_DEFINITIONS,
  TOKENIZER_DEFINITIONS,
  UNKNOWN_SOURCE_DEFINITIONS,
} from '../../core/measures/foreign-definitions.ts';
import { StagedSummary, type SummarizedRun } from '../../core/measures/staged-summary.ts';
import { instantAt, type PhaseWindow } from '../../core/run/run.ts';
import {
  NOT_TRACED,
  PHASES,
  type TokenSource,
  type ErrorReason,
  type PhaseName,
  type RequestRecord,
} from '../../core/run/record.ts';
import type { MeasureResult } from '../../core/run/result.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import { ownValue } from '../../core/text/nearest-names.ts';
import { quantity, significant } from '../../core/text/quantities.ts';
import type { ImportNotes } from './import-notes.ts';
import type { StatedResult, MeasuredRequests, ImportedRun } from './importer.ts';
import { statedDistribution, statedScalar } from './stated/stated-measures.ts';

/** Rounding of the floats that tools write; a difference above it is a disagreement. */
const TOLERANCE = 1e-6;
/** Relative difference of a figure by another definition that is noted. */
const VISIBLE = 1e-3;

/** Who counted the tokens of the records. */
export interface TokenSources {
  readonly input: TokenSource | null;
  readonly output: TokenSource | null;
}

/** Measures computed from records, with the definition that the source of their tokens gives them. */
export function bySource(measures: readonly MeasureResult[], sources: TokenSources): MeasureResult[] {
  return measures.map((result) => {
    const definition = definitionOf(result, sources);
    return definition === result.definition ? result : { ...result, definition };
  });
}

function definitionOf(result: MeasureResult, { input, output }: TokenSources): string {
  const { definition } = result;
  const sources = ALL_TOKEN_DEFINITIONS.has(definition)
    ? [input, output]
    : [INPUT_TOKEN_DEFINITIONS.has(definition) ? input : output];
  if (sources.includes('tokenizer')) return ownValue(TOKENIZER_DEFINITIONS, definition) ?? definition;
  // Without a value there are no tokens that somebody counted.
  const isUnknown = sources.includes(null) && !isEmpty(result);
  return (isUnknown ? ownValue(UNKNOWN_SOURCE_DEFINITIONS, definition) : undefined) ?? definition;
}

/**
 * What result.json holds of an import: what the records give, and what only the tool itself states. The tool's figures
 * are checked against those of the records: differences are noted.
 */
export function mergedMeasures(
  computed: readonly MeasureResult[],
  stated: StatedResult,
  notes: ImportNotes,
): MeasureResult[] {
  const merged = new Map(computed.map((result) => [keyOf(result), result]));
  for (const theirs of oursFirst(stated.measures)) {
    const ours = merged.get(keyOf(theirs));
    if (ours === undefined || isEmpty(ours)) merged.set(keyOf(theirs), theirs);
    else if (ours.definition !== theirs.definition) noteConversion(ours, theirs, notes);
    else noteDifferences(ours, theirs, stated.tolerance?.(theirs) ?? TOLERANCE, notes);
  }
  return [...merged.values()];
}

/**
 * The same where the records are a sample of the run: only what the tool states is a value, and what the sample would
 * give is unknown. `recorded`: ok requests among the records.
 */
export function measuresBesideSample(
  computed: readonly MeasureResult[],
  stated: StatedResult,
  recorded: number,
  notes: ImportNotes,
): MeasureResult[] {
  const merged = new Map<string, MeasureResult>();
  for (const theirs of oursFirst(stated.measures)) {
    if (!merged.has(keyOf(theirs))) merged.set(keyOf(theirs), theirs);
  }
  const unknown = computed.filter((result) => !merged.has(keyOf(result)));
  for (const result of unknown) merged.set(keyOf(result), withoutValue(result));
  notes.add(
    `the records are a sample, ${recorded} of ${stated.requests.ok ?? NaN} ok requests: only figures that the tool states ` +
      'are values, the other measures are null',
  );
  return [...merged.values()];
}

/**
 * Of two figures that the tool states (its own count of tokens, and the server's) the one by our definition is used.
 */
function oursFirst(measures: readonly MeasureResult[]): MeasureResult[] {
  return measures.toSorted((a, b) => Number(isForeign(a)) - Number(isForeign(b)));
}

function withoutValue(result: MeasureResult): MeasureResult {
  const { measure, definition, unit, population, clock, origin } = result;
  const identity = { measure, definition, unit, population, clock, origin };
  return result.kind === 'scalar' ? statedScalar(identity, null) : statedDistribution(identity, { n: null });
}

/** What of a run a measure is, whatever its definition: there is one of it in a result. */
function keyOf({ measure, clock, population, origin }: MeasureResult): string {
  return [measure, clock, population, origin].join(' ');
}

function isEmpty(result: MeasureResult): boolean {
  return result.kind === 'scalar' ? result.value === null : result.n === 0;
}

function noteConversion(ours: MeasureResult, theirs: MeasureResult, notes: ImportNotes): void {
  const [own, other] = [headline(ours), headline(theirs)];
  if (own === null || other === null) return;
  const what = ours.kind === 'scalar' ? '' : 'mean ';
  if (own === other || relative(own, other) <= VISIBLE) return;
  const short = [quantity(own, ours.unit), quantity(other, theirs.unit)];
  // With the digits in which they differ.
  const [now = '', before = ''] = short[0] === short[1] ? [digits(own, ours), digits(other, theirs)] : short;
  notes.conversion(`${ours.measure} ${what}${now} (${theirs.definition}: ${before})`);
}

const digits = (value: number, { unit }: MeasureResult): string => `${Number(value.toPrecision(5))} ${unit}`;

function headline(result: MeasureResult): number | null {
  return result.kind === 'scalar' ? result.value : result.mean;
}

function noteDifferences(ours: MeasureResult, theirs: MeasureResult, tolerance: number, notes: ImportNotes): void {
  const own = new Map(figuresOf(ours));
  const different = figuresOf(theirs).flatMap(([name, stated]) => {
    const computed = own.get(name) ?? null;
    return stated === null || computed === null || isClose(stated, computed, tolerance)
      ? []
      : [{ name, stated, computed }];
  });
  const [worst] = different.sort((a, b) => relative(b.stated, b.computed) - relative(a.stated, a.computed));
  if (worst === undefined) return;
  const more = different.length > 1 ? ` (and ${different.length - 1} more of its figures)` : '';
  notes.disagreement(
    `${ours.measure} ${worst.name}: the file states ${figure(worst.stated, worst.name, theirs)}, ` +
      `its records give ${figure(worst.computed, worst.name, theirs)}${more}`,
  );
}

function figure(value: number, name: string, { unit }: MeasureResult): string {
  return name === 'n' ? significant(value) : `${Number(value.toPrecision(9))} ${unit}`;
}

function figuresOf(result: MeasureResult): (readonly [string, number | null])[] {
  if (result.kind === 'scalar') return [['value', result.value]];
  const { n, mean, std, min, max, percentiles } = result;
  return [
    ['n', n],
    ['mean', mean],
    ['std', std],
    ['min', min],
    ['max', max],
    ...PERCENTILE_NAMES.map((name) => [name, percentiles[name].value] as const),
  ];
}

function relative(a: number, b: number): number {
  return Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
}

/** Below a nanosecond, or its like in other units, rounding is all there is. */
const MIN_DIFFERENCE = 1e-9;

function isClose(a: number, b: number, tolerance: number): boolean {
  return Math.abs(a - b) <= MIN_DIFFERENCE || relative(a, b) <= tolerance;
}

/** Summarizes the records of an import while they pass, and passes on only those that can be true. */
export class ImportSummary {
  readonly #imported: ImportedRun;
  readonly #notes: ImportNotes;
  readonly #summary: StagedSummary;
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
    this.#summary = new StagedSummary({
      shelf,
      plannedConcurrency: load?.mode === 'concurrency' ? load.concurrency : null,
      stages: [],
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
  async summarize(readBack: (visit: (record: ChunkRecord) => void) => Promise<void>): Promise<SummarizedRun> {
    if (!this.#summary.needsChunks) return this.#summary.summarizeInSteps(null, nextTurn);
    const reading = this.#summary.chunkReading();
    await readBack((record) => reading.add(record));
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
