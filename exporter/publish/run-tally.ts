import type { ErrorReason, Outcome, PhaseName, RequestRecord } from '../../core/run/record.ts';
import { ERROR_REASONS, OUTCOMES } from '../../core/run/record.ts';

/** What is counted of one phase. */
export interface PhaseCounts {
  active: boolean;
  /** Wall time of its edges, seconds since the epoch; 0 while it has not begun or ended. */
  start_seconds: number;
  end_seconds: number;
  readonly outcomes: Record<Outcome, number>;
  readonly reasons: Record<ErrorReason, number>;
  inputTokens: number;
  outputTokens: number;
  chunks: number;
}

/** A part of a run that begins and ends once. */
export type Period = Pick<PhaseCounts, 'active' | 'start_seconds' | 'end_seconds'>;

/** The counters and gauges of a run: plain numbers that are read at a scrape. */
export class RunTally {
  readonly phases: Readonly<Record<PhaseName, PhaseCounts>> = {
    warmup: emptyTally(),
    measure: emptyTally(),
    cooldown: emptyTally(),
  };
  /** Of each stage of the load. */
  readonly stages: readonly Period[];
  inFlight = 0;
  goodRequests = 0;
  clientSaturated = false;
  readonly #start_ms: number;
  readonly #isGood: ((record: RequestRecord) => boolean) | null;

  /** `start_ms` is the wall time of the run's monotonic zero; `isGood` says whether an ok request met the SLOs. */
  constructor(start_ms: number, isGood: ((record: RequestRecord) => boolean) | null, stages: number) {
    this.stages = Array.from({ length: stages }, () => ({ active: false, start_seconds: 0, end_seconds: 0 }));
    this.#start_ms = start_ms;
    this.#isGood = isGood;
  }

  begin(period: Period | undefined, at_ns: number): void {
    if (period !== undefined) Object.assign(period, { active: true, start_seconds: this.#wallSeconds(at_ns) });
  }

  end(period: Period | undefined, at_ns: number): void {
    if (period !== undefined) Object.assign(period, { active: false, end_seconds: this.#wallSeconds(at_ns) });
  }

  requestEnded(record: RequestRecord): void {
    this.inFlight -= 1;
    const tally = this.phases[record.phase];
    tally.outcomes[record.outcome] += 1;
    if (record.reason !== null) tally.reasons[record.reason] += 1;
    tally.inputTokens += record.input_tokens ?? 0;
    tally.outputTokens += record.output_tokens ?? 0;
    if (record.phase === 'measure' && record.outcome === 'ok' && this.#isGood?.(record) === true)
      this.goodRequests += 1;
  }

  /** Whole microseconds: a double holds no more of a date. */
  #wallSeconds(at_ns: number): number {
    return Math.round(this.#start_ms * 1e3 + at_ns / 1e3) / 1e6;
  }
}

function emptyTally(): PhaseCounts {
  return {
    active: false,
    start_seconds: 0,
    end_seconds: 0,
    outcomes: zeros(OUTCOMES),
    reasons: zeros(ERROR_REASONS),
    inputTokens: 0,
    outputTokens: 0,
    chunks: 0,
  };
}

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
}
