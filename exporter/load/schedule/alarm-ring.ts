/** Capacity in instants; a power of two. */
export const ALARMS = 1024;

/** Cells of the control words. */
export const CELL = {
  /** Instants written so far; the count wraps around. */
  written: 0,
  /** Instants that have passed according to the clock thread. */
  passed: 1,
  /** Changes whenever an instant has passed: the measuring thread waits on it. */
  wake: 2,
  /** Changes whenever there is something new for the clock thread, which waits on it. */
  signal: 3,
  stop: 4,
} as const;

/** Memory that the measuring thread and the clock thread share: the next instants, and the progress of both threads. */
export interface AlarmRing {
  readonly control: Int32Array<SharedArrayBuffer>;
  /** CLOCK_MONOTONIC in nanoseconds; the n-th instant is in slot n modulo `ALARMS`. */
  readonly instants_ns: Float64Array<SharedArrayBuffer>;
}

export function newAlarmRing(): AlarmRing {
  return {
    control: new Int32Array(new SharedArrayBuffer(Object.keys(CELL).length * Int32Array.BYTES_PER_ELEMENT)),
    instants_ns: new Float64Array(new SharedArrayBuffer(ALARMS * Float64Array.BYTES_PER_ELEMENT)),
  };
}

/** Slot of the n-th instant. */
export const slotOf = (n: number): number => n & (ALARMS - 1);
