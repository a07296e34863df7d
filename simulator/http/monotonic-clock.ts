/** CLOCK_MONOTONIC, counted from an origin, so that a time is a small integer of nanoseconds. */
export class MonotonicClock {
  /** The origin on CLOCK_MONOTONIC, in nanoseconds; the same clock in every process of the machine. */
  readonly origin_ns = process.hrtime.bigint();

  now_ns(): number {
    return Number(process.hrtime.bigint() - this.origin_ns);
  }

  /** A time of this clock as CLOCK_MONOTONIC: a safe integer until the machine has been up for 104 days. */
  absolute_ns(time_ns: number): number {
    return Number(this.origin_ns + BigInt(time_ns));
  }
}
