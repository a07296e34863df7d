import { ImportRefusal } from '../import-refusal.ts';
import type { ImportContext } from '../importer.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { earliestNanoseconds } from './wall-nanoseconds.ts';

/** What holds for all lines of a file of records. */
export interface RecordsOrigin {
  /** Nanoseconds since 1970 from which the times of the records count. */
  readonly zero_ns: bigint;
  /**
   * Whether any response reports its tokens in its usage. Where one does, the tokens of a response without usage are
   * unknown: counts by AIPerf's tokenizer are another measure.
   */
  readonly usage: { readonly input: boolean; readonly output: boolean };
}

/** Goes through a file of records once, before they are read. Throws `ImportRefusal` when no line has a time. */
export async function recordsOrigin(records: SourceFile, { signal, progress }: ImportContext): Promise<RecordsOrigin> {
  const usage = { input: false, output: false };
  const zero_ns = await earliestNanoseconds(
    records,
    ['credit_issued_ns', 'request_start_ns'],
    { signal, progress },
    (bytes) => {
      usage.input ||= bytes.includes('"usage_prompt_tokens"');
      usage.output ||= bytes.includes('"usage_completion_tokens"');
    },
  );
  if (zero_ns !== null) return { zero_ns, usage };
  throw new ImportRefusal(`${records.name}: no line has the time when its request was sent (request_start_ns)`);
}
