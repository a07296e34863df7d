import type { StepEvent } from '../engine/events.ts';

/** `--decode-log-interval`: decode steps from one report to the next. */
const REPORT_STEPS = 40;

/** Output tokens per second, as the scheduler works it out every 40 decode steps. */
export class DecodeThroughput {
  tokensPerSecond = 0;
  #tokens = 0;
  #steps = 0;
  #since_ns: number | null = null;

  token(): void {
    this.#tokens++;
  }

  /**
   * Takes up the end of a step, whose own tokens come after it.
   *
   * @returns whether it made a report
   */
  step({ start_ns, time_ns }: StepEvent): boolean {
    this.#since_ns ??= start_ns;
    if (++this.#steps < REPORT_STEPS) return false;
    this.tokensPerSecond = this.#tokens / ((time_ns - this.#since_ns) / 1e9);
    this.#since_ns = time_ns;
    this.#tokens = 0;
    this.#steps = 0;
    return true;
  }
}
