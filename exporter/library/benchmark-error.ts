import type { ResultFile } from '../../core/run/result.ts';

/** A benchmark that could not be made. The message is one line for people; `cause` is the error behind it. */
export class BenchmarkError extends Error {
  override readonly name = 'BenchmarkError';
  /**
   * `refused`: nothing was sent and nothing stored (options, runs directory, port, a load that requires `yes`). `failed`: the
   * server did not answer the probe request as required, or a worker ended. `not_stored`: measured, see `result`.
   */
  readonly code: 'refused' | 'failed' | 'not_stored';
  /** What was measured, with `not_stored`; else null. */
  readonly result: ResultFile | null;

  constructor(code: BenchmarkError['code'], cause: Error, result: ResultFile | null = null) {
    super(cause.message, { cause });
    this.code = code;
    this.result = result;
  }
}
