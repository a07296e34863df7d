import { basename } from 'node:path';
import { closedLoopKey } from '../../../core/run/load-key.ts';
import { FloatColumn } from '../../../core/measures/float-column.ts';
import { PERCENTILES, PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { pythonError } from '../reading/python-error.ts';
import { readJsonDocument } from '../reading/read-json-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { wallInstant } from '../reading/wall-time.ts';
import { checkStatistics, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import { statedDistribution, statedScalar } from '../stated/stated-measures.ts';
import type { StatedIdentity } from '../stated/stated-measures.ts';
import { exactStated } from '../stated/stated-values.ts';

/** LLMPerf's `token_benchmark_ray.py`: `NAME_summary.json` and `NAME_individual_responses.json`, together a run. */
export const LLMPERF: Importer = { tool: 'llmperf', recognize, group, read };

const SUMMARY = 'llmperf-summary';
const RESPONSES = 'llmperf-responses';

function recognize({ head: { keys, text } }: Pick<SourceFile, 'head'>): Recognition | null {
  if (keys.includes('results_ttft_s_mean') || keys.includes('results_num_requests_started')) return { format: SUMMARY };
  const isList =
    /^\s*\[\s*\{/.test(text) && ['ttft_s', 'end_to_end_latency_s'].every((key) => text.includes(`"${key}"`));
  return isList ? { format: RESPONSES } : null;
}

const NAME = /_?(summary|individual_responses)\.json$/;

function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const byName = Map.groupBy(files, ({ file }) => `${file.folder}/${file.name.replace(NAME, '')}`);
  return [...byName].map(([path, members]) => ({
    files: members,
    name: basename(path),
    group_id: null,
    step: null,
    repeat: null,
  }));
}

const LATENCY: StatedIdentity = { measure: 'request_latency', definition: 'sent_to_end_of_answer' };

/** The tool reads `content` alone, and counts tokens with Llama's tokenizer, whatever the model. */
const METRICS: readonly (readonly [string, StatedIdentity])[] = [
  ['ttft_s', { measure: 'time_to_first_token', definition: 'sent_to_first_output_chunk' }],
  ['end_to_end_latency_s', LATENCY],
  // The sum of its gaps is the time to the last chunk; it is divided by chunks, before December 2024 by tokens.
  [
    'inter_token_latency_s',
    { measure: 'time_per_output_token', definition: 'time_to_last_chunk_over_chunks_or_tokens', unit: 'seconds' },
  ],
  ['number_input_tokens', { measure: 'input_sequence_length', definition: 'tokenizer_prompt_tokens' }],
  ['number_output_tokens', { measure: 'output_sequence_length', definition: 'tokenizer_completion_tokens' }],
];

async function* read({ files }: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const of = (format: string): SourceFile | undefined =>
    files.find(({ recognition }) => recognition.format === format)?.file;
  const [summaryFile, responsesFile] = [of(SUMMARY), of(RESPONSES)];
  // Its writer makes texts of numpy's numbers: that is known, and no remark.
  const written = summaryFile === undefined ? {} : await readJsonDocument(summaryFile, notes, context);
  const summary = new Fields(written, new ImportNotes());
  const responses = responsesFile === undefined ? null : await readJsonDocument(responsesFile, notes, context);
  const ok = summary.count('results_num_completed_requests');
  const perMinute = summary.amount('results_num_completed_requests_per_min');
  const seconds = ok === null || perMinute === null || perMinute === 0 ? null : (ok / perMinute) * 60;
  const saved_s = summary.amount('timestamp');
  const start = saved_s === null || seconds === null ? null : wallInstant((saved_s - seconds) * 1000);
  if (start !== null) notes.add('the start is the time of saving less the duration, to the second');
  notes.add('the files do not report when each request was sent: there are no records');
  notes.add('tokens were counted by the Llama tokenizer of the tool');
  const found = Array.isArray(responses) ? okRequests(responses) : null;
  const listed = found !== null && isSample(found.length, ok, notes) ? null : found;
  const model = summary.text('model');
  const concurrency = summary.count('num_concurrent_requests');
  yield {
    part: null,
    tool: { name: 'llmperf', version: null },
    format: { name: 'llmperf', schema_version: summary.text('version') },
    scenario: null,
    target: { origin: null, system: null, system_version: null },
    key: {
      ...(model !== null && { model }),
      ...(concurrency !== null && { load: closedLoopKey(concurrency) }),
    },
    status: 'completed',
    failure: null,
    start,
    records: null,
    stated: {
      window_seconds: seconds,
      requests: {
        ok: ok ?? listed?.length ?? null,
        error: summary.count('results_number_errors'),
        timeout: null,
        cancelled: null,
      },
      errors: errorsOf(summary.text('results_error_code_frequency') ?? ''),
      measures: [
        ...METRICS.flatMap(([name, identity]) => metric(summary, listed, name, identity, ok, notes)),
        ...rates(summary, perMinute),
      ],
    },
    servers: null,
    notes,
  };
}

/** Failed requests have an `error_code`. */
function okRequests(responses: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] {
  return responses.filter(isObject).filter(({ error_code: code }) => (code ?? null) === null);
}

/** Whether responses are missing: what they result in is then not a figure of the run. */
function isSample(listed: number, ok: number | null, notes: ImportNotes): boolean {
  if (ok === null || listed >= ok) return false;
  notes.add(`the responses are a sample, ${listed} of ${ok} ok requests: only figures of the summary are values`);
  return true;
}

function metric(
  summary: Fields,
  listed: readonly Readonly<Record<string, unknown>>[] | null,
  name: string,
  identity: StatedIdentity,
  ok: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const figure = (statistic: string): number | null => summary.number(`results_${name}_${statistic}`);
  const percentiles = PERCENTILE_NAMES.map((each) => [each, figure(`quantiles_${each}`)] as const);
  const values = new FloatColumn();
  for (const request of listed ?? []) {
    const value = request[name];
    if (typeof value === 'number' && Number.isFinite(value)) values.append(value);
  }
  const mean = figure('mean');
  // A value that is missing or cannot be true leaves the figures of the summary.
  const isWhole = values.length === listed?.length && values.toArray().every((value) => value >= 0);
  if (listed === null || (!isWhole && mean !== null)) {
    if (mean === null) return [];
    const [min, max] = [figure('min'), figure('max')];
    return [
      statedDistribution(identity, {
        n: listed === null ? ok : null,
        mean,
        min,
        max,
        percentiles: Object.fromEntries(percentiles),
      }),
    ];
  }
  const exact = exactStated(identity, values.toArray());
  const stated = percentiles.flatMap(([each, value]): [number, number][] =>
    value === null ? [] : [[PERCENTILES[each], value]],
  );
  // The tool's deviation is that of a sample (n − 1), ours is that of the requests.
  const reported = {
    mean: figure('mean'),
    std: null,
    min: figure('min'),
    max: figure('max'),
    percentiles: new Map(stated),
  };
  checkStatistics(name, reported, values.toArray(), NUMPY_LINEAR, notes);
  return exact === null ? [] : [exact];
}

function rates(summary: Fields, perMinute: number | null): MeasureResult[] {
  const output = summary.amount('results_mean_output_throughput_token_per_s');
  const requests = { measure: 'request_throughput', definition: 'ok_requests_over_wall_time' } as const;
  const tokens = {
    measure: 'output_token_throughput',
    definition: 'ok_tokenizer_output_tokens_over_wall_time',
  } as const;
  return [
    ...(perMinute === null ? [] : [statedScalar(requests, perMinute / 60)]),
    ...(output === null ? [] : [statedScalar(tokens, output)]),
  ];
}

/** Python's text of a dictionary: `{503: 4, -1: 1}`; -1 is what could not connect, timed out or broke off. */
function errorsOf(text: string): ImportedRun['stated']['errors'] {
  const errors: Partial<Record<ErrorReason, number>> = {};
  for (const [, code = '', count = ''] of text.matchAll(/(-?\d+)(?:\.0)?: (\d+)/g)) {
    const { reason } = pythonError(`HTTP ${code}`);
    errors[reason] = (errors[reason] ?? 0) + Number(count);
  }
  return errors;
}
