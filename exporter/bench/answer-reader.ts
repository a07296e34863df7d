import type { MeasuredRecord } from '../../core/run/record.ts';
import type { ChunkListener } from './chunk-listener.ts';
import type { ContentRecognizer } from './content-recognizer.ts';
import type { TimedRequest } from './deadlines.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import type { EventQueue } from './event-queue.ts';
import type { RequestForm } from './request-feed.ts';
import type { Exchange, ResponseHandler } from './transport.ts';

/** What all readers of a run share. */
export interface AnswerContext {
  readonly endpoint: Endpoint;
  readonly recognizer: ContentRecognizer;
  readonly queue: EventQueue;
  readonly listener: ChunkListener;
  /** CLOCK_MONOTONIC of the run's zero. */
  readonly epoch_ns: number;
  readonly secrets: readonly string[];
  /** Whether answers come as streams; absent: yes. */
  readonly stream?: boolean;
  /** Keeps the text of each answer until its record closes: for conversations, and for counting tokens. */
  readonly keepText?: boolean;
  /** Counts the output tokens of an answer whose server tells no number; needs `keepText`. */
  readonly countTokens?: (text: string) => number;
  /** Counts them of every answer, so that they can be compared with the server's number; absent: no. */
  readonly checkUsage?: boolean;
}

export interface ClosedRequest {
  readonly record: MeasuredRecord;
  /** One line about a failure, for a log; it may hold the server's words and is no part of the record. */
  readonly message: string | null;
  readonly retryAfterSeconds: number | null;
  readonly connectionRetried: boolean;
  /** What the model said, without its reasoning; null unless text is kept. Never part of the record. */
  readonly output: string | null;
}

/** Reads one answer and closes its request's record in the end. */
export interface AnswerReader extends ResponseHandler, TimedRequest {
  /** The exchange whose answer this is, so that it can be given up. */
  attach(exchange: Exchange): void;
}

/** How the answers to requests of a form are read. */
export function readingOf({ options, countTokens, checkUsage = false, dataset }: RequestForm): Partial<AnswerContext> {
  return {
    stream: options.stream ?? true,
    keepText: countTokens !== undefined || dataset.conversation !== undefined,
    ...(countTokens === undefined ? {} : { countTokens, checkUsage }),
  };
}
