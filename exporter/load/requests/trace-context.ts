import { randomBytes } from 'node:crypto';

/** The header by which a request becomes part of a trace. */
export const TRACE_HEADER = 'traceparent';

/** A trace that begins with a request. */
export interface NewTrace {
  /** 32 hexadecimal digits. */
  readonly trace_id: string;
  /** The value of the header. */
  readonly traceparent: string;
}

/**
 * Whether the request at this position of its phase, from 0, is traced: `ratio` of any number of consecutive requests are,
 * to one request, whichever thread sends them.
 */
export const isTraced = (position: number, ratio: number): boolean =>
  Math.floor((position + 1) * ratio) > Math.floor(position * ratio);

/**
 * A trace with random identifiers and the flag "sampled", so that the server records its spans (W3C Trace Context level 1,
 * §3.2: version, trace, parent, flags).
 */
export function newTrace(): NewTrace {
  const ids = randomBytes(24).toString('hex');
  const trace_id = ids.slice(0, 32);
  return { trace_id, traceparent: `00-${trace_id}-${ids.slice(32)}-01` };
}
