/** The runs of the test exporter: known latencies at known times, so that every picture is the same. */

export const BOUNDS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2];

export interface TestRun {
  runId: string;
  /** Seconds after the exporter's start. */
  startSeconds: number;
  endSeconds: number;
  latencySeconds: (index: number) => number;
}

/** Observations of a run are evenly spaced: this many per second. */
export const PER_SECOND = 60;

/** Uniform in [0, 1) and without a pattern that the eye sees: multiples of the golden ratio. */
function spread(index: number): number {
  return (index * 0.6180339887498949) % 1;
}

function skewed(index: number, median: number): number {
  return median * (0.5 / (1 - 0.98 * spread(index))) ** 0.45;
}

export const RUNS: readonly TestRun[] = [
  { runId: 'steady', startSeconds: 2, endSeconds: 14, latencySeconds: (i) => skewed(i, 0.16) },
  // The queue grows, and towards the end every 25th answer takes 3.5 s: longer than the last finite bound.
  {
    runId: 'overloaded',
    startSeconds: 17,
    endSeconds: 37,
    latencySeconds: (i) => (i > 720 && i % 25 === 12 ? 3.5 : skewed(i, 0.14 + 0.3 * (i / 1200) ** 2)),
  },
];

export const TOTAL_SECONDS = 38;

/** The exposition at a time, in seconds after the exporter's start. */
export function exposition(seconds: number): string {
  const name = 'llmbench_time_to_first_token_seconds';
  const lines = [`# TYPE ${name} histogram`, '# TYPE llmbench_run_phase gauge'];
  for (const run of RUNS) {
    const active = Math.min(seconds, run.endSeconds) - run.startSeconds;
    const values = Array.from({ length: Math.max(0, Math.floor(active * PER_SECOND)) }, (_, i) =>
      run.latencySeconds(i)
    );
    const labels = `run_id="${run.runId}"`;
    for (const bound of [...BOUNDS, Infinity]) {
      const le = bound === Infinity ? '+Inf' : String(bound);
      lines.push(`${name}_bucket{${labels},le="${le}"} ${values.filter((value) => value <= bound).length}`);
    }
    lines.push(`${name}_sum{${labels}} ${values.reduce((a, b) => a + b, 0)}`);
    lines.push(`${name}_count{${labels}} ${values.length}`);
    const inside = seconds >= run.startSeconds && seconds < run.endSeconds;
    lines.push(`llmbench_run_phase{${labels},phase="measure"} ${inside ? 1 : 0}`);
  }
  return lines.join('\n') + '\n';
}
