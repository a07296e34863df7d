import { highestRate, mostInFlight, type LoadPlan } from '../schedule/load-plan.ts';

/** How many errors end a run: a number of them, or a share (0 to 1) of the requests sent lately; null: none do. */
export type ErrorLimit = { readonly errors: number } | { readonly share: number } | null;

/** A server that responds almost only with errors gets no more requests. */
export const DEFAULT_ERROR_LIMIT: ErrorLimit = { share: 0.95 };

/** A share of fewer requests says little. */
const MIN_JUDGED = 50;

/**
 * Of how many requests, sent one after another, the share is judged: as many as may be in flight or are sent in a second, because
 * one moment decides about all of these.
 */
export function judgedRequests(load: LoadPlan, shards = 1): number {
  const { arrivals } = load;
  const rate =
    arrivals?.kind === 'rate'
      ? arrivals.requestRate
      : arrivals?.kind === 'stages'
        ? Math.max(...arrivals.stages.map((stage) => (stage.kind === 'rate' ? highestRate(stage) : stage.concurrency)))
        : 0;
  return Math.max(MIN_JUDGED, Math.ceil(Math.max(mostInFlight([load]) ?? 0, rate) / shards));
}

/** The limit of a phase. */
export interface PhaseErrorLimit {
  readonly limit: ErrorLimit;
  readonly judged: number;
}

/** Cells of the memory of an `EarlyEnd`, before the failures of each window. */
const DECLARED = 0;
const SENT = 1;
const ERRORS = 2;
const FIRST_WINDOW = 3;
/** Failures of a request that was sent more windows ago say nothing about now. */
const WINDOWS = 64;
export const EARLY_END_CELLS = FIRST_WINDOW + WINDOWS;

/**
 * What ends a phase early, counted over all senders of its requests: errors, and the decision to send no more. Threads may
 * share its memory; then it applies to all of them at once. Requests are judged in the order of their sending, in windows:
 * in that of their ends, errors come first, since they are faster than responses.
 */
export class EarlyEnd {
  readonly #cells: Int32Array;
  readonly #reported: (graceSeconds: number | null) => void;

  /** `reported` is called when this side ends the phase; it gets the time after which requests in flight are cancelled. */
  constructor(
    cells: Int32Array = new Int32Array(EARLY_END_CELLS),
    reported: (graceSeconds: number | null) => void = () => undefined,
  ) {
    this.#cells = cells;
    this.#reported = reported;
  }

  /** Counts a request, and returns its position. */
  sent({ judged }: PhaseErrorLimit): number {
    const position = Atomics.add(this.#cells, SENT, 1);
    if (position % judged === 0) Atomics.store(this.#cells, cellOf(position / judged), 0);
    return position;
  }

  /** Counts the failure of the request at a position; returns what reached the limit, null: nothing did. */
  failed(position: number, { limit, judged }: PhaseErrorLimit): string | null {
    const errors = Atomics.add(this.#cells, ERRORS, 1) + 1;
    if (limit === null) return null;
    if ('errors' in limit) return errors >= limit.errors ? `${errors} errors` : null;
    const window = Math.floor(position / judged);
    const latest = Math.floor((Atomics.load(this.#cells, SENT) - 1) / judged);
    if (latest - window >= WINDOWS) return null;
    const failures = Atomics.add(this.#cells, cellOf(window), 1) + 1;
    return failures >= Math.ceil(limit.share * judged) ? `${failures} of ${judged} requests failed` : null;
  }

  /** No sender sends further requests; null: those in flight may finish without a limit. */
  declare(graceSeconds: number | null): void {
    Atomics.store(this.#cells, DECLARED, 1);
    this.#reported(graceSeconds);
  }

  get declared(): boolean {
    return Atomics.load(this.#cells, DECLARED) === 1;
  }

  /** Call before a phase begins. */
  clear(): void {
    this.#cells.fill(0);
  }
}

const cellOf = (window: number): number => FIRST_WINDOW + (window % WINDOWS);
