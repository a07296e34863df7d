import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';

/** Where the runs to publish come from: what is asked of the store. */
export interface RunSource {
  /** The finished runs, newest first; one that cannot be read has no `run` but says in `damage` why. */
  list(): Promise<readonly { readonly run_id: string; readonly run: RunFile | null; readonly damage: string | null }[]>;
  /** The result of a finished run; rejects when it cannot be read. */
  readResult(runId: string): Promise<ResultFile>;
  /** The requests of a finished run; throws when they cannot be read. */
  readRecords(run: RunFile): AsyncIterable<RequestRecord>;
  /** The runs whose process is at work. */
  running(): Promise<readonly RunFile[]>;
}
