import type { PhaseName, RequestRecord } from './record.ts';

/**
 * What a benchmark does, for those who want to know while it runs: the live metrics, the record files, the terminal. Called
 * on the measuring process's loop, so each call must be cheap and must not throw. Times are nanoseconds since the run's start.
 */
export interface RunEvents {
  phaseStarted?(phase: PhaseName, at_ns: number): void;
  phaseEnded?(phase: PhaseName, at_ns: number): void;
  /** Requests that are due from now on belong to this stage, by its number from 1. */
  stageStarted?(stage: number, at_ns: number): void;
  /** No further request is due in it; those in flight go on. */
  stageEnded?(stage: number, at_ns: number): void;
  requestSent?(phase: PhaseName, due_ns: number, sent_ns: number): void;
  /** Once per request, when its first chunk with content has been recognized. */
  firstContent?(phase: PhaseName, sinceSent_ns: number, sinceDue_ns: number): void;
  /** Once per further chunk with content: the hot path. */
  chunkGap?(phase: PhaseName, gap_ns: number): void;
  requestEnded?(record: RequestRecord): void;
  /** How late the event loop ran a timer, sampled through the measure phase. */
  eventLoopDelay?(delay_ns: number): void;
  /** When it turns out, or no longer holds, that this client may itself be what is measured. */
  clientSaturated?(saturated: boolean): void;
}

/**
 * A destination of a run's measurements: its page of live metrics, its directory, a receiver of remote write, a report.
 * It is opened before the run and closed in any case. No method may throw because of the destination: `finish` reports.
 */
export interface RunOutput extends RunEvents {
  /** Before the first request; returns at once. */
  begin?(): void;
  /** After the last request. `saturated`: this client may have limited what was measured. */
  end?(saturated: boolean): void;
  /**
   * When the result is written, one output after the other in the order in which they were opened: hands over what is left,
   * within the limits of the output, and ends the computing for this run. Returns lines for the user.
   */
  finish?(ending: RunEnding): Promise<readonly string[]>;
  /**
   * After all outputs have finished, again in their order: waits for others who fetch the run at their own time. The next
   * run may be measured meanwhile, so that this must need next to no computing. Returns lines for the user.
   */
  depart?(ending: RunEnding): Promise<readonly string[]>;
  close?(): Promise<void>;
}

/** How the user ended the run. */
export interface RunEnding {
  /** The run was ended early: waits are short. */
  readonly hurried: boolean;
  /** Aborted when nothing is waited for any more. */
  readonly givenUp: AbortSignal;
}

/** Passes each event on to those that have it, in their order. */
export function joinedEvents(receivers: readonly RunEvents[]): Required<RunEvents> {
  const having = (event: keyof RunEvents): readonly RunEvents[] =>
    receivers.filter((receiver) => receiver[event] !== undefined);
  // Filtered once: the calls for each chunk are the hot path.
  const sent = having('requestSent');
  const first = having('firstContent');
  const gaps = having('chunkGap');
  const ended = having('requestEnded');
  const delays = having('eventLoopDelay');
  return {
    phaseStarted: (phase, at_ns) => receivers.forEach((each) => each.phaseStarted?.(phase, at_ns)),
    phaseEnded: (phase, at_ns) => receivers.forEach((each) => each.phaseEnded?.(phase, at_ns)),
    stageStarted: (stage, at_ns) => receivers.forEach((each) => each.stageStarted?.(stage, at_ns)),
    stageEnded: (stage, at_ns) => receivers.forEach((each) => each.stageEnded?.(stage, at_ns)),
    requestSent(phase, due_ns, sent_ns) {
      for (const each of sent) each.requestSent?.(phase, due_ns, sent_ns);
    },
    firstContent(phase, sinceSent_ns, sinceDue_ns) {
      for (const each of first) each.firstContent?.(phase, sinceSent_ns, sinceDue_ns);
    },
    chunkGap(phase, gap_ns) {
      for (const each of gaps) each.chunkGap?.(phase, gap_ns);
    },
    requestEnded(record) {
      for (const each of ended) each.requestEnded?.(record);
    },
    eventLoopDelay(delay_ns) {
      for (const each of delays) each.eventLoopDelay?.(delay_ns);
    },
    clientSaturated: (saturated) => receivers.forEach((each) => each.clientSaturated?.(saturated)),
  };
}
