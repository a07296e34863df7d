import type { MeasureResult } from '../../../core/run/result.ts';
import { benchLoad, hasNoLatencies, isSample, okRequests, totalLengths } from '../serving-bench/bench-fields.ts';
import { benchRuns } from '../serving-bench/bench-results.ts';
import type { BenchResult } from '../serving-bench/bench-results.ts';
import { Fields } from '../reading/fields.ts';
import { known, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, KnownKey, Recognition } from '../importer.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { surveyOf } from '../serving-bench/listed-survey.ts';
import type { ListedSurvey } from '../serving-bench/listed-survey.ts';
import { listedLatencies, summaryLatencies, totals, withoutFalseTokens } from './bench-measures.ts';
import type { SglangBackend } from './bench-measures.ts';

/** Lines of SGLang's `bench_serving`, with and without `--output-details`; each line is a run. */
export const SGLANG: Importer = {
  tool: 'sglang',
  recognize,
  // Which lines there are, what the lists are, and what they come to.
  passes: 3,
  read,
};

/** Keys of every version, from before what may be long. */
const SIGNATURE = ['backend', 'request_rate', 'sharegpt_output_len', 'random_range_ratio'] as const;

function recognize({ head: { keys } }: Pick<SourceFile, 'head'>): Recognition | null {
  const isSglang = SIGNATURE.every((key) => keys.includes(key)) && !keys.includes('model_id');
  return isSglang ? { format: 'sglang-bench-serving' } : null;
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    yield* benchRuns(file, context, benchRun);
  }
}

const NATIVE: SglangBackend = { endpoint_type: 'sglang_generate', spreadsGaps: true };
const COMPLETIONS: SglangBackend = { endpoint_type: 'completions', spreadsGaps: false };
const CHAT: SglangBackend = { endpoint_type: 'chat', spreadsGaps: false };

const BACKENDS: Readonly<Record<string, SglangBackend>> = {
  sglang: NATIVE,
  'sglang-native': NATIVE,
  'sglang-oai': COMPLETIONS,
  vllm: COMPLETIONS,
  lmdeploy: COMPLETIONS,
  'sglang-oai-chat': CHAT,
  'vllm-chat': CHAT,
  'lmdeploy-chat': CHAT,
};

function backendOf(name: string | null): SglangBackend {
  const known = name !== null && Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined;
  return known ?? { endpoint_type: null, spreadsGaps: false };
}

/** What is known and of no use here: texts, tokens counted once more, chunks counted as tokens, lengths that were planned. */
const PASSED_OVER = [
  'dataset_name',
  'sharegpt_output_len',
  'random_input_len',
  'random_output_len',
  'random_range_ratio',
  'total_input_text_tokens',
  'total_input_vision_tokens',
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

/** One line of SGLang's `bench_serving`. */
export async function benchRun({ value, lists, part, sha256, notes }: BenchResult): Promise<ImportedRun> {
  const fields = new Fields(value, notes);
  const backend = backendOf(fields.text('backend'));
  const survey = lists.areUsable(fields, notes) ? await surveyOf(lists, null, notes) : null;
  const completed = fields.count('completed');
  const ok = okRequests(completed, survey, notes);
  const server = fields.object('server_info');
  const key = keyOf(fields, backend, server, survey);
  notes.add(
    'the tool keeps no time of day and no time of sending per request: the run has no start time and no records',
  );
  notes.add('output tokens are reported by the server, or those requested: the file does not state which');
  const measures = [
    ...latencies(fields, backend, survey, completed, notes),
    ...totals(fields),
    ...totalLengths(fields, ok, survey, notes),
  ];
  const run = reportedRun({
    part,
    sha256,
    tool: 'sglang',
    format: 'sglang-bench-serving',
    scenario: fields.text('tag'),
    target: { system: server === null ? null : 'sglang', system_version: server?.text('version') ?? null },
    key,
    stated: {
      window_seconds: fields.amount('duration') ?? fields.amount('benchmark_duration'),
      requests: { ok, error: survey === null ? null : survey.requests - survey.ok },
      errors: survey?.errors ?? {},
      measures: withoutFalseTokens(fields, { ok, survey }, measures, notes),
    },
    notes,
  });
  fields.ignore(...PASSED_OVER, ...fields.names.filter((name) => LATENCY.test(name)));
  fields.noteUnread();
  return run;
}

function latencies(
  fields: Fields,
  backend: SglangBackend,
  survey: ListedSurvey | null,
  completed: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  if (hasNoLatencies(completed ?? survey?.ok ?? null, notes)) return [];
  return survey === null || isSample(survey, completed)
    ? summaryLatencies(fields, backend, completed, notes)
    : listedLatencies(fields, survey, backend, notes);
}

function keyOf(fields: Fields, backend: SglangBackend, server: Fields | null, survey: ListedSurvey | null): KnownKey {
  const load = benchLoad(fields, 1);
  fields.ignore('request_rate', 'max_concurrency');
  const model = server?.text('served_model_name') ?? server?.text('model_path');
  return {
    ...known({ endpoint_type: backend.endpoint_type, model, load }),
    ...(survey !== null && {
      stop: { request_count: survey.requests, benchmark_duration_seconds: null },
      streaming: survey.isStreamed,
    }),
  };
}
