import type { ResponseContext, ResponseReader, ClosedRequest } from '../responses/response-reader.ts';
import type { Deadlines } from '../responses/deadlines.ts';
import type { SentRequest } from '../responses/request-record.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import type { ReadyRequest } from './request-feed.ts';
import { StreamReader } from '../responses/stream.ts';
import type { Transport } from '../transports/transport.ts';
import { WholeReader } from '../responses/whole-reader.ts';

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
    turn: Pick<SentRequest, 'index' | 'phase' | 'due_ns' | 'stage'>,
    closed: (reader: ResponseReader, request: ClosedRequest) => void,
    firstContent?: () => void,
  ): ResponseReader {
    const sent_ns = this.now_ns();
    const { phase, due_ns } = turn;
    const { max_tokens, counted, choices = 1 } = ready;
    const sent = { ...turn, sent_ns, requested_output_tokens: max_tokens, choices, ...counted };
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
