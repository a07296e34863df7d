import { PHASES } from '../../../core/run/record.ts';
import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import { chunkListener, type ChunkListener } from '../chunk-listener.ts';
import type { RunObserver } from '../observer.ts';

/** What observers were told, in order, in a form that goes from one thread to another at little cost. */
export interface EventBatch {
  /** Each event: its kind and phase as one number, then its numbers. */
  readonly events: Float64Array<ArrayBuffer>;
  /** Of the requests that ended, in order. */
  readonly records: readonly RequestRecord[];
}

/** Events by their number, with how many numbers follow each. */
const KINDS = ['sent', 'first', 'gap', 'ended', 'delay'] as const;
type Kind = (typeof KINDS)[number];
const SENT = codeOf('sent');
const FIRST = codeOf('first');
const GAP = codeOf('gap');
const ENDED = codeOf('ended');
const DELAY = codeOf('delay');

const CAPACITY = 16_384;
const LONGEST_EVENT = 3;

/** Two phases for each kind. */
function codeOf(kind: Kind): number {
  return KINDS.indexOf(kind) * PHASES.length;
}

/** Notes what an observer is told, for another thread to hear it later. Phases are told by the thread that runs them. */
export class EventLog implements Required<Omit<RunObserver, 'phaseStarted' | 'phaseEnded' | 'clientSaturated'>> {
  readonly #full: () => void;
  readonly #numbers = new Float64Array(CAPACITY);
  #length = 0;
  #records: RequestRecord[] = [];

  /** `full` is called when the log should be taken; what is not taken by then would be lost. */
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

  /** What was noted since the last time; null when nothing was. */
  take(): EventBatch | null {
    if (this.#length === 0) return null;
    const batch = { events: this.#numbers.slice(0, this.#length), records: this.#records };
    this.#length = 0;
    this.#records = [];
    return batch;
  }

  #begin(code: number, phase: PhaseName): void {
    if (this.#length + LONGEST_EVENT > CAPACITY) this.#full();
    this.#numbers[this.#length++] = code + PHASES.indexOf(phase);
  }
}

/** Tells observers what a log has noted: each only what it wants to know. */
export class EventReplay {
  readonly #sent: readonly RunObserver[];
  readonly #ended: readonly RunObserver[];
  readonly #delays: readonly RunObserver[];
  readonly #chunks: ChunkListener;

  constructor(observers: readonly RunObserver[]) {
    this.#sent = observers.filter((observer) => observer.requestSent !== undefined);
    this.#ended = observers.filter((observer) => observer.requestEnded !== undefined);
    this.#delays = observers.filter((observer) => observer.eventLoopDelay !== undefined);
    this.#chunks = chunkListener(observers);
  }

  tell({ events, records }: EventBatch): void {
    let record = 0;
    let i = 0;
    const next = (): number => events[i++] ?? NaN;
    while (i < events.length) {
      const code = next();
      const phase = PHASES[code % PHASES.length] ?? 'measure';
      switch (code - (code % PHASES.length)) {
        case GAP:
          this.#chunks.chunkGap(phase, next());
          break;
        case FIRST:
          this.#chunks.firstContent(phase, next(), next());
          break;
        case SENT:
          this.#requestSent(phase, next(), next());
          break;
        case ENDED:
          this.#requestEnded(records[record++]);
          break;
        case DELAY:
          this.#eventLoopDelay(next());
          break;
        default:
          throw new Error(`a batch of events holds ${code}, which is none`);
      }
    }
  }

  #requestSent(phase: PhaseName, due_ns: number, sent_ns: number): void {
    for (const observer of this.#sent) observer.requestSent?.(phase, due_ns, sent_ns);
  }

  #requestEnded(record: RequestRecord | undefined): void {
    if (record === undefined) throw new Error('a batch of events lacks a record');
    for (const observer of this.#ended) observer.requestEnded?.(record);
  }

  #eventLoopDelay(delay_ns: number): void {
    for (const observer of this.#delays) observer.eventLoopDelay?.(delay_ns);
  }
}
