import type { RequestRecord } from '../../../core/run/record.ts';
import { UNREPORTED } from '../importer.ts';
import { isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';

/** A request of `--request_json`; times are nanoseconds of a monotonic clock, of which only differences mean something. */
export interface EngineRequest {
  readonly index: number;
  readonly sent_ns: number;
  /** Null when the response was not streamed. */
  readonly first_ns: number | null;
  /** Null when it never finished. */
  readonly end_ns: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly failed: boolean;
}

/** The requests of the file; what cannot be one is left out and counted. The texts of the responses are not read. */
export function engineRequests(document: unknown, notes: ImportNotes): readonly EngineRequest[] {
  if (!Array.isArray(document)) return [];
  return (document as readonly unknown[]).flatMap((value, index) => {
    const request = engineRequest(value, index);
    if (request === null) notes.count('requests left out: no time of sending', `request ${index}`);
    return request ?? [];
  });
}

function engineRequest(value: unknown, index: number): EngineRequest | null {
  if (!isObject(value)) return null;
  // −1 is what the tool writes for a time that never came.
  const number = (name: string): number | null => {
    const found = Object.hasOwn(value, name) ? value[name] : null;
    return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : null;
  };
  const time = (name: string): number | null => number(name) || null;
  const sent_ns = number('start_timestamp');
  if (sent_ns === null) return null;
  const end_ns = time('end_timestamp');
  return {
    index,
    sent_ns,
    first_ns: time('first_token_timestamp'),
    end_ns,
    input_tokens: number('num_input_tokens'),
    output_tokens: number('num_output_tokens') ?? number('output_tokens'),
    failed: end_ns === null || (number('error_tokens') ?? 0) > 0,
  };
}

/**
 * The records. They hold no times of chunks: the tool measures inside the engine's process, which is no time to first
 * token as a client sees it.
 */
export async function* engineRecords(requests: readonly EngineRequest[]): AsyncGenerator<RequestRecord> {
  const zero_ns = requests.reduce((earliest, { sent_ns }) => Math.min(earliest, sent_ns), Infinity);
  for (const { index, sent_ns, end_ns, input_tokens, output_tokens, failed } of requests) {
    yield {
      ...UNREPORTED,
      index,
      sent_ns: sent_ns - zero_ns,
      end_ns: (end_ns ?? sent_ns) - zero_ns,
      outcome: failed ? 'error' : 'ok',
      reason: failed ? (end_ns === null ? 'no_finish' : 'other') : null,
      input_tokens,
      input_tokens_source: input_tokens === null ? null : 'usage',
      output_tokens: failed ? null : output_tokens,
      output_tokens_source: failed || output_tokens === null ? null : 'usage',
    };
  }
}
