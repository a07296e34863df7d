import { FloatColumn } from '../../core/measures/float-column.ts';
import { GapValues } from './gap-values.ts';

/** The latencies of requests from the times of their chunks, seconds, in the order in which they were due. */
export class LatencyValues {
  /** To the first chunk. */
  readonly ttft = new FloatColumn();
  /** From the first chunk to the last, for each token after the first; of requests that have a second. */
  readonly tpot = new FloatColumn();
  /** Between the chunks. */
  readonly itl = new GapValues();
  /** To the last chunk. */
  readonly e2el = new FloatColumn();

  /** `times_s`: of the chunks, since the request was sent; a request without a chunk has no latency. */
  add(times_s: readonly number[], outputTokens: number | null): void {
    const [first] = times_s;
    const last = times_s.at(-1);
    if (first === undefined || last === undefined) return;
    this.ttft.append(first);
    this.e2el.append(last);
    if (outputTokens !== null && outputTokens > 1) this.tpot.append((last - first) / (outputTokens - 1));
    for (let i = 1; i < times_s.length; i++) this.itl.append((times_s[i] ?? NaN) - (times_s[i - 1] ?? NaN));
  }
}
