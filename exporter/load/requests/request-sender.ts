import type { ErrorReason, Outcome, PhaseName } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import type { PhaseResult } from '../load-generator.ts';
import type { SentRequest } from '../responses/request-record.ts';
import { FindingsTally } from '../responses/response-findings.ts';
import type { ResponseContext, ResponseReader, ClosedRequest, Deadlines } from '../responses/response-reader.ts';
import { StreamReader } from '../responses/stream.ts';
import { WholeReader } from '../responses/whole-reader.ts';
import type { Transport } from '../transports/transport.ts';
import type { ReadyRequest } from './request-feed.ts';

/** Sends requests of a run and tracks them until their records close. */
export class RequestSender {
  readonly #transport: Transport;
  readonly #context: ResponseContext;
  readonly #deadlines: Deadlines;
  readonly #events: RunEvents;

  constructor(transport: Transport, context: ResponseContext, deadlines: Deadlines, events: RunEvents = {}) {
    this.#transport = transport;
    this.#context = context;
    this.#deadlines = deadlines;
    this.#events = events;
  }

  now_ns(): number {
    return Math.round(monotonicNow_ns()) - this.#context.epoch_ns;
  }

  send(
    ready: ReadyRequest,
    turn: Pick<SentRequest, 'index' | 'phase' | 'due_ns' | 'stage' | 'place'>,
    closed: (reader: ResponseReader, request: ClosedRequest) => void,
    firstContent?: () => void,
  ): ResponseReader {
    const sent_ns = this.now_ns();
    const { phase, due_ns } = turn;
    const { max_tokens, counted, choices = 1, model = null, trace_id = null } = ready;
    const sent = { ...turn, sent_ns, requested_output_tokens: max_tokens, choices, model, trace_id, ...counted };
    const ended = (request: ClosedRequest): void => {
      this.#deadlines.unwatch(reader, place);
      this.#events.requestEnded?.(request.record);
      closed(reader, request);
    };
    const Reader = this.#context.stream === false ? WholeReader : StreamReader;
    const reader = new Reader(sent, this.#context, ended, firstContent);
    reader.attach(this.#transport.send(ready.request, reader));
    const place = this.#deadlines.watch(reader);
    this.#events.requestSent?.(phase, due_ns, sent_ns);
    return reader;
  }
}

type CountedElsewhere = 'positions' | 'unsent' | 'broken';

/** Counts the requests of a phase as this thread sends them. */
export class SentRequests {
  readonly #phase: PhaseName;
  readonly #requests: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  readonly #messages: Partial<Record<ErrorReason, string>> = {};
  #start_ns: number | null = null;
  #end_ns: number | null = null;
  #sent = 0;
  #ended = 0;
  #documents: number | null = null;
  #connectionRetries = 0;
  readonly found = new FindingsTally();
  tooManyErrors: string | null = null;
  overBudget: string | null = null;

  constructor(phase: PhaseName) {
    this.#phase = phase;
  }

  get phase(): PhaseName {
    return this.#phase;
  }

  get inFlight(): number {
    return this.#sent - this.#ended;
  }

  /** When the first request was sent; null before. */
  get start_ns(): number | null {
    return this.#start_ns;
  }

  requestSent(now_ns: number): void {
    this.#start_ns ??= now_ns;
    this.#sent++;
  }

  requestEnded({ record, message, connectionRetried, findings }: ClosedRequest): void {
    const { outcome, reason, end_ns, documents = null } = record;
    this.#ended++;
    this.#requests[outcome]++;
    this.#end_ns = Math.max(this.#end_ns ?? 0, end_ns);
    if (outcome === 'ok' && documents !== null) this.#documents = (this.#documents ?? 0) + documents;
    this.found.addAll(findings);
    if (connectionRetried) this.#connectionRetries++;
    if (reason === null) return;
    this.#errors[reason] = (this.#errors[reason] ?? 0) + 1;
    if (message !== null) this.#messages[reason] ??= message;
  }

  result(): Omit<PhaseResult, CountedElsewhere> {
    return {
      phase: this.#phase,
      start_ns: this.#start_ns,
      end_ns: this.#end_ns,
      requests: this.#requests,
      sent: this.#sent,
      documents: this.#documents,
      errors: this.#errors,
      messages: this.#messages,
      connectionRetries: this.#connectionRetries,
      findings: this.found.findings,
      tooManyErrors: this.tooManyErrors,
      overBudget: this.overBudget,
    };
  }
}
