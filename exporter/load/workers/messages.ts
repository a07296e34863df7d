import { PHASES, type PhaseName, type RequestRecord, type LoadPhase } from '../../../core/run/record.ts';
import { joinedEvents, type RunEvents } from '../../../core/run/run-output.ts';
import type { PhaseResult } from '../load-generator.ts';
import type { LoadMemory } from '../shared-counters.ts';
import type { Share } from './share.ts';

/** Observer events in order, in a form that is cheap to transfer between threads. */
export interface EventBatch {
  /** Each event: its kind and phase as one number, then its values. */
  readonly events: Float64Array<ArrayBuffer>;
  /** Of the requests that ended, in order. */
  readonly records: readonly RequestRecord[];
}

/** Event codes, with the number of values that follow each. */
const KINDS = ['sent', 'first', 'gap', 'ended', 'delay'] as const;
type Kind = (typeof KINDS)[number];
const SENT = codeOf('sent');
const FIRST = codeOf('first');
const GAP = codeOf('gap');
const ENDED = codeOf('ended');
const DELAY = codeOf('delay');

const CAPACITY = 16_384;
const MAX_EVENT = 3;

/** Each kind has a code for every phase. */
function codeOf(kind: Kind): number {
  return KINDS.indexOf(kind) * PHASES.length;
}

/** Events of the leading thread. */
type LeadingEvent = 'phaseStarted' | 'phaseEnded' | 'stageStarted' | 'stageEnded' | 'clientSaturated';

/**
 * Records the events of an observer, to replay them in another thread. Phase events are sent by the thread that runs
 * the phases.
 */
export class EventLog implements Required<Omit<RunEvents, LeadingEvent>> {
  readonly #full: () => void;
  readonly #numbers = new Float64Array(CAPACITY);
  #length = 0;
  #records: RequestRecord[] = [];

  /** `full` is called when the log should be taken; events are lost if it is not taken by then. */
  constructor(full: () => void) {
    this.#full = full;
  }

  requestSent(phase: PhaseName, due_ns: number, sent_ns: number): void {
    this.#begin(SENT, phase);
    this.#numbers[this.#length++] = due_ns;
    this.#numbers[this.#length++] = sent_ns;
  }

  firstContent(phase: PhaseName, sinceSent_ns: number, sinceDue_ns: number): void {
    this.#begin(FIRST, phase);
    this.#numbers[this.#length++] = sinceSent_ns;
    this.#numbers[this.#length++] = sinceDue_ns;
  }

  chunkGap(phase: PhaseName, gap_ns: number): void {
    this.#begin(GAP, phase);
    this.#numbers[this.#length++] = gap_ns;
  }

  requestEnded(record: RequestRecord): void {
    this.#begin(ENDED, record.phase);
    this.#records.push(record);
  }

  eventLoopDelay(delay_ns: number): void {
    this.#begin(DELAY, 'measure');
    this.#numbers[this.#length++] = delay_ns;
  }

  /** The events since the last call; null when there are none. */
  take(): EventBatch | null {
    if (this.#length === 0) return null;
    const batch = { events: this.#numbers.slice(0, this.#length), records: this.#records };
    this.#length = 0;
    this.#records = [];
    return batch;
  }

  #begin(code: number, phase: PhaseName): void {
    if (this.#length + MAX_EVENT > CAPACITY) this.#full();
    this.#numbers[this.#length++] = code + PHASES.indexOf(phase);
  }
}

/** Replays the events of a log. */
export class EventReplay {
  readonly #events: Required<RunEvents>;

  constructor(receivers: readonly RunEvents[]) {
    this.#events = joinedEvents(receivers);
  }

  replay({ events, records }: EventBatch): void {
    let record = 0;
    let i = 0;
    const next = (): number => events[i++] ?? NaN;
    while (i < events.length) {
      const code = next();
      const phase = PHASES[code % PHASES.length] ?? 'measure';
      switch (code - (code % PHASES.length)) {
        case GAP:
          this.#events.chunkGap(phase, next());
          break;
        case FIRST:
          this.#events.firstContent(phase, next(), next());
          break;
        case SENT:
          this.#events.requestSent(phase, next(), next());
          break;
        case ENDED:
          this.#events.requestEnded(recordAt(records, record++));
          break;
        case DELAY:
          this.#events.eventLoopDelay(next());
          break;
        default:
          throw new Error(`unknown event ${code} in a batch of events`);
      }
    }
  }
}

function recordAt(records: EventBatch['records'], index: number): RequestRecord {
  const record = records[index];
  if (record === undefined) throw new Error('a record is missing in a batch of events');
  return record;
}

/** What a worker is started with. */
export interface WorkerStart<Setup = unknown> {
  /** What its entry makes the plan and the transport from. */
  readonly setup: Setup;
  readonly worker: Share;
  readonly memory: LoadMemory;
  /** Directory of the compile cache; null: none. */
  readonly compileCache: string | null;
}

/** What becomes known only when the run begins. */
export interface WorkerRun {
  /** CLOCK_MONOTONIC at the start of the run. */
  readonly epoch_ns: number;
  /** Whether the server accepts the request for token counts, as the probe found. */
  readonly includeUsage: boolean;
  /** The field of the maximum output length that it accepts; absent: the endpoint's own. */
  readonly lengthField?: string | undefined;
}

/** To a worker. */
export type WorkerCommand =
  | { readonly order: 'begin'; readonly run: WorkerRun }
  | { readonly order: 'prepare'; readonly phase: LoadPhase; readonly firstIndex: number }
  | { readonly order: 'run'; readonly start_ns: number | null }
  /** After `run` in all workers, if a cool-down follows the phase. */
  | { readonly order: 'cool_down' }
  | { readonly order: 'drain' }
  | { readonly order: 'abort' };

/** From a worker. */
export type WorkerReport =
  | { readonly report: 'begun' }
  | { readonly report: 'prepared' }
  | { readonly report: 'events'; readonly batch: EventBatch }
  | { readonly report: 'ended_early'; readonly graceSeconds: number | null }
  | { readonly report: 'ended'; readonly result: PhaseResult }
  | { readonly report: 'cooled_down'; readonly result: PhaseResult | null };
