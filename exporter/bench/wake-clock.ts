/** Tells when instants have come. Times are nanoseconds since the run's start. */
export interface WakeClock {
  /**
   * Calls `ring` for each of the instants, which ascend, in their order: as soon as possible after it, never before.
   * May be called once.
   */
  start(instants_ns: Iterator<number>, ring: (due_ns: number) => void): void;
  /** `ring` is not called any more. */
  stop(): void;
}
