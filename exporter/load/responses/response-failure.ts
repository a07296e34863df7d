import { ERROR_REASONS } from '../../../core/run/record.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import { errorMessage } from '../endpoints/error-message.ts';
import { isObject } from '../endpoints/endpoint.ts';
import { messageExcerpt } from '../../errors/message-excerpt.ts';
import type { TransportFailure } from '../transports/transport.ts';

/** What is known of a response after it has ended or failed. */
export interface ResponseFacts {
  /** Null when the body was read to its end. */
  readonly transportFailure: TransportFailure | null;
  readonly status: number | null;
  readonly contentType: string;
  readonly contentEncoding: string;
  /** Where a redirect leads; empty or absent without the header. */
  readonly location?: string;
  /** The beginning of a body that is not a stream. */
  readonly bodyStart: string;
  readonly events: number;
  readonly malformedEvent: string | null;
  readonly errorEvent: string | null;
  readonly finished: boolean;
  readonly hasContent: boolean;
  /** True when one JSON response was requested, which is then the only event; absent: a stream. */
  readonly whole?: boolean;
}

export interface ResponseFailure {
  readonly reason: ErrorReason;
  /** One line for a log: what was wrong, with the server's own message if there is one. Never part of a record. */
  readonly message: string;
}

/**
 * Why a request is not ok, by the rules of `ERROR_REASON_RULES` in their order; null when it is ok. The events decide
 * whether a body is a stream, not its content type, which some gateways set wrongly.
 */
export function responseFailure(facts: ResponseFacts, secrets: readonly string[]): ResponseFailure | null {
  let first: ResponseFailure | null = null;
  for (const failure of failures(facts)) {
    if (first === null || ERROR_REASONS.indexOf(failure.reason) < ERROR_REASONS.indexOf(first.reason)) first = failure;
  }
  return first === null ? null : { reason: first.reason, message: messageExcerpt(first.message, secrets) };
}

/** All failures that apply. */
function failures(facts: ResponseFacts): readonly ResponseFailure[] {
  const found: ResponseFailure[] = [];
  if (facts.transportFailure !== null) found.push(facts.transportFailure);
  if (facts.status === null) return found;
  if (facts.status >= 300) {
    found.push({ reason: statusReason(facts.status), message: `HTTP ${facts.status}${hint(facts)}` });
    return found;
  }
  if (isEncoded(facts.contentEncoding)) {
    found.push({ reason: 'compression', message: `HTTP ${facts.status}${hint(facts)}` });
    return found;
  }
  const read = facts.transportFailure === null;
  if (read && !isStream(facts)) found.push({ reason: 'not_a_stream', message: `HTTP ${facts.status}${hint(facts)}` });
  if (facts.malformedEvent !== null) found.push({ reason: 'malformed_event', message: facts.malformedEvent });
  if (facts.errorEvent !== null) found.push({ reason: 'error_event', message: facts.errorEvent });
  if (read && !facts.finished)
    found.push({
      reason: 'no_finish',
      message: 'the stream ended without a finish reason, and without usage and [DONE]',
    });
  if (read && !facts.hasContent)
    found.push({
      reason: 'no_content',
      message: facts.whole === true ? 'the response has no content' : 'the stream ended without content',
    });
  return found;
}

function statusReason(status: number): ErrorReason {
  if (status === 429) return 'http_429';
  if (status >= 500) return 'http_5xx';
  return status >= 400 ? 'http_4xx' : 'redirect';
}

/** Whether a body is compressed although identity was requested. */
export function isEncoded(contentEncoding: string): boolean {
  return contentEncoding !== '' && contentEncoding !== 'identity';
}

/** A body without any event is still a stream when its content type reports it and it contains only comments. */
function isStream(facts: ResponseFacts): boolean {
  if (facts.events > 0) return true;
  return facts.contentType.startsWith('text/event-stream') && !/^[^:\s]/.test(facts.bodyStart.trimStart());
}

/** Without user info and query, which may contain secrets. */
function destination(location = ''): string {
  const shown = location.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
  return shown === '' ? '' : ` (to ${shown})`;
}

function hint(facts: ResponseFacts): string {
  if (facts.status !== null && facts.status >= 300 && facts.status < 400)
    return `: redirects are not followed${destination(facts.location)}`;
  if (isEncoded(facts.contentEncoding)) {
    return `: content-encoding ${facts.contentEncoding} although identity was requested`;
  }
  const said = serverMessage(facts.bodyStart);
  if (said !== '') return `: ${said}`;
  return facts.contentType === '' ? '' : `: ${facts.contentType}`;
}

/** The message in an error body, or the text of an HTML page without its tags. */
export function serverMessage(body: string): string {
  try {
    const response: unknown = JSON.parse(body);
    if (isObject(response)) return errorMessage(response) ?? body;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return body
    .replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .trim();
}
