/** What a program of the driver reported of a GPU of this machine. */
export interface GpuSample {
  readonly gpu: string;
  readonly model: string | null;
  /** Null: the GPU does not report it. */
  readonly watts: number | null;
}

/** A program that samples the GPUs of this machine. */
export interface GpuProgram {
  readonly name: string;
  /** The family under which its samples are stored. */
  readonly family: string;
  /**
   * Samples until `until` is aborted, at least once each interval; resolves when the program has ended, with the reason in
   * one line if it ended by itself. Rejects when it is not installed.
   */
  readonly sample: (
    intervalSeconds: number,
    take: (samples: readonly GpuSample[]) => void,
    until: AbortSignal,
  ) => Promise<string | null>;
}

/** A power as the programs write it; null: `[N/A]` and the like. */
export function wattsOf(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}
