import { type LoadStage, type RecordedLoad, planRate, planSeconds, type TokenCounts } from '../run/load.ts';
import type { Outcome, RequestRecord } from '../run/record.ts';
import type { BreakdownKey, BreakdownResult, LoadFit, NetworkResult } from '../run/result.ts';
import { DividedShelf, MemoryShelf } from './ascending-values.ts';
import { BREAKDOWN_MEASURES, breakdownOrder, breakdownsOf, MODEL_MEASURES, modelKey } from './breakdown.ts';
import { type ChunkReading, type ChunkRecord, GapHistogram } from './chunk-reading.ts';
import { SummaryAccumulator, type PhaseSummary, type SummaryOptions } from './summary.ts';
import { quotient } from './scalar-measures.ts';

export interface StagedSummaryOptions extends SummaryOptions {
  /** The stages of the load, in their order; empty without stages. */
  readonly stages: readonly LoadStage[];
  /** Of a run with several models, those that are distinguished; absent or empty: it has one. */
  readonly models?: readonly string[];
  /** The recorded load that the plan reproduces; absent: none. */
  readonly recordedLoad?: RecordedLoad;
}

/** What `result.json` says of a stage. */
export interface StageSummary {
  /** The time in which due requests belong to it, in ns since the run's start; null when it had not begun. */
  readonly period: { readonly start_ns: number; readonly end_ns: number } | null;
  readonly summary: PhaseSummary;
}

/** By dimension and value. */
type ByKey<T> = ReadonlyMap<string, T>;

const textOf = ({ by, value }: BreakdownKey): string => `${by}=${value}`;

/** The second reading of the records of a run: of all, of each stage and of each population of the breakdown. */
export class RunReading {
  readonly whole: ChunkReading;
  readonly stages: readonly ChunkReading[];
  readonly breakdown: ByKey<ChunkReading>;
  readonly #models: readonly string[];

  constructor(
    whole: ChunkReading,
    stages: readonly ChunkReading[],
    breakdown: ByKey<ChunkReading>,
    models: readonly string[],
  ) {
    this.#models = models;
    this.whole = whole;
    this.stages = stages;
    this.breakdown = breakdown;
  }

  add(record: ChunkRecord): void {
    this.whole.add(record);
    if (record.stage != null) this.stages[record.stage - 1]?.add(record);
    for (const key of breakdownsOf(record, this.#models)) this.breakdown.get(textOf(key))?.add(record);
  }
}

/** A run as `StagedSummary` has it. */
export interface SummarizedRun {
  readonly whole: PhaseSummary;
  readonly stages: readonly StageSummary[];
  /** Empty when the load has no dimensions. */
  readonly breakdown: readonly BreakdownResult[];
}

/**
 * Summarizes a run as `SummaryAccumulator` does, and each stage of its load as a population of its own: the same
 * measures, over the requests that were due in it. So are the populations of its breakdown, with fewer measures.
 */
export class StagedSummary {
  readonly #options: StagedSummaryOptions;
  readonly #whole: SummaryAccumulator;
  readonly #stages: readonly SummaryAccumulator[];
  readonly #breakdown = new Map<string, { readonly key: BreakdownKey; readonly summary: SummaryAccumulator }>();
  readonly #shelves: DividedShelf;
  readonly #loadFit: LoadFitTally | null;
  readonly #coolDown: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  /** The first request of the first stage is due when the stages begin. */
  #firstDue_ns = Infinity;
  readonly #handshakes = new GapHistogram();
  /** From sending a request to the first content of its response: a round trip and more. */
  #fastestResponse_ns = Infinity;

  constructor(options: StagedSummaryOptions) {
    const { stages, shelf = new MemoryShelf(), ...rest } = options;
    const shelves = (this.#shelves = new DividedShelf(shelf));
    this.#options = options;
    const slices = stages.length === 0 ? 'steady' : 'changing';
    this.#whole = new SummaryAccumulator({ ...rest, slices, shelf: shelves.part() });
    this.#stages = stages.map(
      ({ concurrency }) => new SummaryAccumulator({ ...rest, plannedConcurrency: concurrency, shelf: shelves.part() }),
    );
    this.#loadFit = options.recordedLoad === undefined ? null : new LoadFitTally(options.recordedLoad);
    // Also a model without requests is there.
    for (const model of options.models ?? []) this.#population(modelKey(model));
  }

  add(record: RequestRecord): void {
    this.#whole.add(record);
    this.#loadFit?.add(record);
    if (record.tcp_connect_ns != null) this.#handshakes.observe(record.tcp_connect_ns);
    if (record.first_content_ns !== null)
      this.#fastestResponse_ns = Math.min(this.#fastestResponse_ns, record.first_content_ns - record.sent_ns);
    if (record.phase === 'cooldown') this.#coolDown[record.outcome] += 1;
    if (record.phase !== 'measure') return;
    for (const key of breakdownsOf(record, this.#options.models)) this.#population(key).add(record);
    if (record.stage == null) return;
    this.#stages[record.stage - 1]?.add(record);
    if (record.stage === 1) this.#firstDue_ns = Math.min(this.#firstDue_ns, record.due_ns ?? Infinity);
  }

  #population(key: BreakdownKey): SummaryAccumulator {
    const known = this.#breakdown.get(textOf(key));
    if (known !== undefined) return known.summary;
    const shelf = this.#shelves.part();
    const options = {
      ...this.#options,
      shelf,
      plannedConcurrency: null,
      only: key.by === 'model' ? MODEL_MEASURES : BREAKDOWN_MEASURES,
    };
    const summary = new SummaryAccumulator(options);
    this.#breakdown.set(textOf(key), { key, summary });
    return summary;
  }

  /** Requests of the measure phase by how they ended. */
  get requests(): Readonly<Record<Outcome, number>> {
    return this.#whole.requests;
  }

  /** Whether anything depends on a second reading: see `SummaryAccumulator`. */
  get needsChunks(): boolean {
    return this.#whole.needsChunks;
  }

  /** Requests of the cool-down by how they ended. */
  get coolDown(): Readonly<Record<Outcome, number>> {
    return { ...this.#coolDown };
  }

  /** How well the requests fit the load that the plan reproduces; null: it reproduces none. */
  get loadFit(): readonly LoadFit[] | null {
    return this.#loadFit?.result() ?? null;
  }

  /**
   * The TCP handshakes of all connections to `host`, in all phases; null: none is known. What kept the client waiting is in
   * them, so the fastest response limits them too.
   */
  networkOf(host: string): NetworkResult | null {
    const { n, min } = this.#handshakes;
    const p50 = this.#handshakes.quantile(0.5);
    if (min === null || p50 === null) return null;
    return { host, connections: n, min_seconds: Math.min(min, this.#fastestResponse_ns * 1e-9), p50_seconds: p50 };
  }

  /** What the second reading of the records is to be collected in: see `SummaryAccumulator`. */
  chunkReading(): RunReading {
    return new RunReading(
      this.#whole.chunkReading(),
      this.#stages.map((stage) => stage.chunkReading()),
      new Map([...this.#breakdown].map(([text, { summary }]) => [text, summary.chunkReading()])),
      this.#options.models ?? [],
    );
  }

  /** In steps, so that a process can do other things (answer a scrape) in the `pause` between two of them. */
  async summarizeInSteps(reading: RunReading | null, pause: () => Promise<void>): Promise<SummarizedRun> {
    const whole = await this.#whole.summarizeInSteps(reading?.whole ?? null, pause);
    const stages: StageSummary[] = [];
    let from_ns = this.#firstDue_ns;
    const end_ns = whole.window?.end_ns ?? -Infinity;
    for (const [i, stage] of this.#stages.entries()) {
      const seconds = this.#options.stages[i]?.duration_seconds ?? 0;
      const summary = await stage.summarizeInSteps(reading?.stages[i] ?? null, pause);
      const until_ns = from_ns + Math.round(seconds * 1e9);
      // After the end of an interrupted run no stage has begun.
      const period = from_ns < end_ns ? { start_ns: from_ns, end_ns: Math.min(until_ns, end_ns) } : null;
      stages.push({ period, summary });
      from_ns = until_ns;
    }
    return { whole, stages, breakdown: await this.#breakdownResults(reading, pause) };
  }

  async #breakdownResults(reading: RunReading | null, pause: () => Promise<void>): Promise<readonly BreakdownResult[]> {
    const results: BreakdownResult[] = [];
    const populations = [...this.#breakdown.values()];
    // Conversations of one turn are single requests.
    if (populations.length === 1 && populations[0]?.key.value === 'first') return results;
    populations.sort((a, b) => breakdownOrder(a.key) - breakdownOrder(b.key));
    for (const { key, summary } of populations) {
      const { requests, measures } = await summary.summarizeInSteps(reading?.breakdown.get(textOf(key)) ?? null, pause);
      results.push({ ...key, requests, measures });
    }
    return results;
  }
}

/**
 * How well the requests of a run fit the load that its plan reproduces, from the records as they come, in any order. Of a
 * request the time is kept.
 */
export class LoadFitTally {
  readonly #source: RecordedLoad;
  readonly #sent_ns: number[] = [];
  readonly #input: LengthTally;
  readonly #output: LengthTally;
  #cached = 0;
  #prompt = 0;
  /** The first request of a plan is due at its start. */
  #start_ns = Infinity;

  constructor(source: RecordedLoad) {
    this.#source = source;
    this.#input = new LengthTally(source.input_tokens);
    this.#output = new LengthTally(source.output_tokens);
  }

  add({ phase, due_ns, sent_ns, input_tokens, output_tokens, cached_tokens }: RequestRecord): void {
    if (phase !== 'measure') return;
    this.#start_ns = Math.min(this.#start_ns, due_ns ?? sent_ns);
    this.#sent_ns.push(sent_ns);
    this.#input.add(input_tokens);
    this.#output.add(output_tokens);
    if (cached_tokens === null || input_tokens === null) return;
    this.#cached += cached_tokens;
    this.#prompt += input_tokens;
  }

  result(): readonly LoadFit[] {
    const { requests, input_tokens, output_tokens, cached_input_ratio } = this.#source;
    const cached = this.#prompt > 0 ? this.#cached / this.#prompt : null;
    const away = cached === null || cached_input_ratio === null ? null : Math.abs(cached - cached_input_ratio);
    return [
      {
        quantity: 'request_rate',
        unit: 'requests_per_second',
        source: planRate(this.#source),
        achieved: quotient(this.#sent_ns.length, this.#seconds()),
        distance: distance([...requests, 0], this.#slots()),
      },
      { quantity: 'input_tokens', unit: 'tokens', ...this.#input.fit(input_tokens) },
      { quantity: 'output_tokens', unit: 'tokens', ...this.#output.fit(output_tokens) },
      { quantity: 'cached_input_ratio', unit: 'ratio', source: cached_input_ratio, achieved: cached, distance: away },
    ];
  }

  /** How long the requests of the plan took: its own time or more, and until the last one where some were not sent. */
  #seconds(): number {
    const elapsed = this.#afterStart().reduce((last, seconds) => Math.max(last, seconds), 0);
    const [planned, rate] = [planSeconds(this.#source), planRate(this.#source)];
    return this.#sent_ns.length < Math.round(rate * planned) ? elapsed : Math.max(planned, elapsed);
  }

  /** Requests in each slot of the plan, and at last after its end. */
  #slots(): readonly number[] {
    const { requests, slot_seconds, compress } = this.#source;
    const slots = [...requests, 0].map(() => 0);
    for (const seconds of this.#afterStart()) {
      const slot = Math.min(requests.length, Math.floor((seconds * compress) / slot_seconds));
      slots[slot] = (slots[slot] ?? 0) + 1;
    }
    return slots;
  }

  #afterStart(): readonly number[] {
    return this.#sent_ns.map((sent_ns) => (sent_ns - this.#start_ns) * 1e-9);
  }
}

class LengthTally {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #known = 0;

  constructor(source: TokenCounts | null) {
    this.#bounds = source?.bounds ?? [];
    this.#counts = [...this.#bounds, Infinity].map(() => 0);
  }

  add(tokens: number | null): void {
    if (tokens === null) return;
    const bucket = this.#bounds.findIndex((bound) => tokens <= bound);
    const place = bucket < 0 ? this.#bounds.length : bucket;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sum += tokens;
    this.#known += 1;
  }

  fit(source: TokenCounts | null): Pick<LoadFit, 'source' | 'achieved' | 'distance'> {
    const achieved = quotient(this.#sum, this.#known);
    if (source === null) return { source: null, achieved, distance: null };
    return { source: source.mean, achieved, distance: distance(source.counts, this.#counts) };
  }
}

/**
 * The largest difference between the cumulative shares of two counts over the same buckets, 0 to 1: that of Kolmogorov and
 * Smirnov as far as the buckets show it. Null where one has nothing.
 */
function distance(a: readonly number[], b: readonly number[]): number | null {
  const total = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0);
  const [ofA, ofB] = [total(a), total(b)];
  if (ofA === 0 || ofB === 0) return null;
  let [sumA, sumB, largest] = [0, 0, 0];
  for (const [i, count] of a.entries()) {
    sumA += count;
    sumB += b[i] ?? 0;
    largest = Math.max(largest, Math.abs(sumA / ofA - sumB / ofB));
  }
  return largest;
}
