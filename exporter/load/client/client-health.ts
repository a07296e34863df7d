import type { PhaseName } from '../../../core/run/record.ts';
import { EventLoopDelays, SAMPLE_EVERY_MS } from './event-loop-delays.ts';
import { MeasuredClient } from './measured-client.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';

/**
 * Monitors the load that this thread generates: how late its own event loop runs a timer during the measure phase. The
 * observers get each sample too.
 */
export class ClientHealthMonitor extends MeasuredClient {
  readonly #delays = new EventLoopDelays();
  #timer: NodeJS.Timeout | null = null;
  #expected_ns = 0;

  override phaseStarted(phase: PhaseName): void {
    super.phaseStarted(phase);
    if (phase === 'measure') this.#arm();
  }

  override phaseEnded(phase: PhaseName): void {
    if (phase === 'measure' && this.#timer !== null) {
      clearTimeout(this.#timer);
      // A loop that was blocked until now has not run the sample that would have shown it.
      this.#sample();
    }
    super.phaseEnded(phase);
  }

  protected override get loops(): readonly EventLoopDelays[] {
    return [this.#delays];
  }

  #arm(): void {
    this.#expected_ns = monotonicNow_ns() + SAMPLE_EVERY_MS * 1e6;
    this.#timer = setTimeout(() => {
      this.#sample();
      this.#arm();
    }, SAMPLE_EVERY_MS);
    this.#timer.unref();
  }

  #sample(): void {
    const delay_ns = Math.max(monotonicNow_ns() - this.#expected_ns, 0);
    this.events.eventLoopDelay(delay_ns);
    this.sampled(this.#delays, delay_ns);
  }
}
