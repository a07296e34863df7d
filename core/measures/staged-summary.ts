import type { LoadStage } from '../run/load.ts';
import type { Outcome, RequestRecord } from '../run/record.ts';
import { DividedShelf, MemoryShelf } from './ascending-values.ts';
import type { ChunkReading, ChunkRecord } from './chunk-reading.ts';
import { SummaryAccumulator, type PhaseSummary, type SummaryOptions } from './summary.ts';

export interface StagedSummaryOptions extends SummaryOptions {
  /** The stages of the load, in their order; empty without stages. */
  readonly stages: readonly LoadStage[];
}

/** What `result.json` says of a stage. */
export interface StageSummary {
  /** The time in which due requests belong to it, in ns since the run's start; null when it had not begun. */
  readonly period: { readonly start_ns: number; readonly end_ns: number } | null;
  readonly summary: PhaseSummary;
}

/** The second reading of the records of a run: of all, and of each stage. */
export class RunReading {
  readonly whole: ChunkReading;
  readonly stages: readonly ChunkReading[];

  constructor(whole: ChunkReading, stages: readonly ChunkReading[]) {
    this.whole = whole;
    this.stages = stages;
  }

  add(record: ChunkRecord): void {
    this.whole.add(record);
    if (record.stage != null) this.stages[record.stage - 1]?.add(record);
  }
}

/**
 * Summarizes a run as `SummaryAccumulator` does, and each stage of its load as a population of its own: the same
 * measures, over the requests that were due in it.
 */
export class StagedSummary {
  readonly #options: StagedSummaryOptions;
  readonly #whole: SummaryAccumulator;
  readonly #stages: readonly SummaryAccumulator[];
  readonly #coolDown: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  /** The first request of the first stage is due when the stages begin. */
  #firstDue_ns = Infinity;

  constructor(options: StagedSummaryOptions) {
    const { stages, shelf = new MemoryShelf(), ...rest } = options;
    const shelves = new DividedShelf(shelf);
    this.#options = options;
    this.#whole = new SummaryAccumulator({ ...rest, shelf: shelves.part() });
    this.#stages = stages.map(
      ({ concurrency }) => new SummaryAccumulator({ ...rest, plannedConcurrency: concurrency, shelf: shelves.part() }),
    );
  }

  add(record: RequestRecord): void {
    this.#whole.add(record);
    if (record.phase === 'cooldown') this.#coolDown[record.outcome] += 1;
    if (record.phase !== 'measure' || record.stage == null) return;
    this.#stages[record.stage - 1]?.add(record);
    if (record.stage === 1) this.#firstDue_ns = Math.min(this.#firstDue_ns, record.due_ns ?? Infinity);
  }

  /** Requests of the cool-down by how they ended. */
  get coolDown(): Readonly<Record<Outcome, number>> {
    return { ...this.#coolDown };
  }

  /** What the second reading of the records is to be collected in: see `SummaryAccumulator`. */
  chunkReading(): RunReading {
    return new RunReading(
      this.#whole.chunkReading(),
      this.#stages.map((stage) => stage.chunkReading()),
    );
  }

  /** In steps, so that a process can do other things (answer a scrape) in the `pause` between two of them. */
  async summarizeInSteps(
    reading: RunReading | null,
    pause: () => Promise<void>,
  ): Promise<{ readonly whole: PhaseSummary; readonly stages: readonly StageSummary[] }> {
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
    return { whole, stages };
  }
}
