import { randomBytes } from 'node:crypto';

/** The header by which a request becomes part of a trace. */
export const TRACE_HEADER = 'traceparent';

/** A trace that begins with a request. */
export interface NewTrace {
  /** 32 hexadecimal digits; null: the server is not to record it. */
  readonly trace_id: string | null;
  /** The value of the header. */
  readonly traceparent: string;
}

/**
 * The trace of the request at this position of its phase, from 0, with random identifiers (W3C Trace Context level 1, §3.2:
 * version, trace, parent, flags). `ratio` of any number of consecutive requests, to one request, have the flag "sampled",
 * whichever thread sends them. The others have it unset: without a header, most servers would record them all.
 */
export function newTrace(position: number, ratio: number): NewTrace {
  const isSampled = Math.floor((position + 1) * ratio) > Math.floor(position * ratio);
  const ids = randomBytes(24).toString('hex');
  const trace_id = ids.slice(0, 32);
  return {
    trace_id: isSampled ? trace_id : null,
    traceparent: `00-${trace_id}-${ids.slice(32)}-${isSampled ? '01' : '00'}`,
  };
}
