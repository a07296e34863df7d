import type { MeasureResult } from '../../../core/run/result.ts';
import { benchLoad } from '../bench-load.ts';
import { Fields } from '../fields.ts';
import type { ImportedRun, KnownKey } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import { listedErrors } from '../listed-errors.ts';
import { listedRequests } from '../request-lists.ts';
import type { ListedRequest } from '../request-lists.ts';
import { backendOf } from './backend.ts';
import type { Backend } from './backend.ts';
import { areStreamed, listedLatencies, summaryLatencies } from './bench-measures.ts';
import { totals } from './totals.ts';

/** What is known and of no use here: texts, tokens counted once more, chunks counted as tokens, lengths that were planned. */
const PASSED_OVER = [
  'dataset_name',
  'sharegpt_output_len',
  'random_input_len',
  'random_output_len',
  'random_range_ratio',
  'total_input_tokens',
  'total_input_text_tokens',
  'total_input_vision_tokens',
  'total_output_tokens',
  'total_output_tokens_retokenized',
  'total_input',
  'total_output',
  'total_output_retokenized',
  'wall_duration',
  'max_output_tokens_per_s',
  'max_concurrent_requests',
  'cached_tokens',
  'cached_tokens_details',
] as const;

/** Known, whether it was of use or not. */
const LATENCY = /^(mean|median|std|max|p\d+)_(e2e_latency|ttft|tpot|itl)(_ms)?$/;

/** One line of SGLang's `bench_serving`. `part`: which of several in a file. */
export function benchRun(value: unknown, part: string | null, notes: ImportNotes): ImportedRun {
  const fields = new Fields(value, notes);
  const backend = backendOf(fields.text('backend'));
  const requests = listedRequests(fields, notes);
  const succeeded = requests?.filter(({ error }) => error === null) ?? null;
  const completed = fields.count('completed');
  if (succeeded !== null && completed !== null && succeeded.length !== completed) {
    notes.disagreement(`the file says that ${completed} requests were ok, its lists hold ${succeeded.length}`);
  }
  const server = fields.object('server_info');
  const key = keyOf(fields, backend, server, requests);
  notes.say('the tool keeps no time of day and not when each request was sent: the run has no time and no records');
  notes.say('output tokens are those of the server where it tells them, else those asked for: the file does not say');
  const run: ImportedRun = {
    part,
    tool: { name: 'sglang', version: null },
    format: { name: 'sglang-bench-serving', schema_version: null },
    scenario: fields.text('tag'),
    target: {
      origin: null,
      system: server === null ? null : 'sglang',
      system_version: server?.text('version') ?? null,
    },
    key,
    status: 'completed',
    failure: null,
    start: null,
    records: null,
    stated: {
      window_seconds: fields.amount('duration') ?? fields.amount('benchmark_duration'),
      requests: {
        ok: completed ?? succeeded?.length ?? null,
        error: requests === null || succeeded === null ? null : requests.length - succeeded.length,
        timeout: null,
        cancelled: null,
      },
      errors: listedErrors(requests ?? []),
      measures: [...latencies(fields, backend, succeeded, completed, notes), ...totals(fields)],
    },
    servers: null,
    notes,
  };
  fields.ignore(...PASSED_OVER, ...fields.names.filter((name) => LATENCY.test(name)));
  fields.noteUnread();
  return run;
}

function latencies(
  fields: Fields,
  backend: Backend,
  succeeded: readonly ListedRequest[] | null,
  completed: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  if ((completed ?? succeeded?.length) === 0) {
    notes.say('no request succeeded: the zeros that the tool writes for latencies are not taken');
    return [];
  }
  return succeeded === null
    ? summaryLatencies(fields, backend, completed, notes)
    : listedLatencies(fields, succeeded, backend, notes);
}

function keyOf(
  fields: Fields,
  backend: Backend,
  server: Fields | null,
  requests: readonly ListedRequest[] | null,
): KnownKey {
  const load = benchLoad(fields, 1);
  fields.ignore('request_rate', 'max_concurrency');
  const model = server?.text('served_model_name') ?? server?.text('model_path') ?? null;
  return {
    ...(backend.endpoint_type !== null && { endpoint_type: backend.endpoint_type }),
    ...(model !== null && { model }),
    ...(load !== undefined && { load }),
    ...(requests !== null && {
      stop: { request_count: requests.length, benchmark_duration_seconds: null },
      streaming: areStreamed(requests),
    }),
  };
}
