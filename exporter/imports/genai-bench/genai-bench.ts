import { closedLoop } from '../../../core/run/load.ts';
import { basename } from 'node:path';
import type { ErrorReason } from '../../../core/run/record.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { byNumber, fileOf, groupIdOf, known, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { Fields, isObject, numbersOf, publicOriginOrNull } from '../reading/fields.ts';
import { errorCounts, pythonError } from '../reading/python-error.ts';
import { readJsonDocument } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { checkedExact, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import {
  identityOf,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedScalars,
} from '../stated/stated-measures.ts';
import type { StatedFigure } from '../stated/stated-measures.ts';

/**
 * The experiments of genai-bench: a file per scenario and concurrency, each a run, next to `experiment_metadata.json`.
 */
export const GENAI_BENCH: Importer = { tool: 'genai-bench', recognize, group, read };

const RESULT = 'genai-bench-result';
const METADATA = 'genai-bench-metadata';

/** Metrics of a request: times are in the unit of the file. */
const METRICS: readonly StatedFigure[] = [
  ['ttft', 'time_to_first_token', 'sent_to_first_content_chunk'],
  ['tpot', 'inter_token_latency', 'per_request_mean_to_end_of_answer_tokens_of_unknown_source'],
  ['e2e_latency', 'request_latency', 'sent_to_end_of_answer'],
  ['num_input_tokens', 'input_sequence_length', 'prompt_tokens_of_unknown_source'],
  ['num_output_tokens', 'output_sequence_length', 'completion_tokens_of_unknown_source'],
];
const COUNTS = /^num_/;

/** Figures of the run: `run_duration` is the time of the whole benchmark. */
const RATES: readonly StatedFigure[] = [
  ['requests_per_second', 'request_throughput', 'ok_requests_over_wall_time'],
  ['mean_output_throughput_tokens_per_s', 'output_token_throughput', 'output_tokens_of_unknown_source_over_wall_time'],
  ['mean_input_throughput_tokens_per_s', 'input_token_throughput', 'input_tokens_of_unknown_source_over_wall_time'],
  ['mean_total_tokens_throughput_tokens_per_s', 'total_token_throughput', 'tokens_of_unknown_source_over_wall_time'],
];

const STATISTICS = { mean: 'mean', std: 'stddev', min: 'min', max: 'max', percentiles: percentileNames() };

function recognize({ head: { keys } }: Pick<SourceFile, 'head'>): Recognition | null {
  if (keys[0] === 'aggregated_metrics' || keys.includes('individual_request_metrics')) return { format: RESULT };
  const isMetadata = ['cmd', 'benchmark_version', 'api_backend'].every((key) => keys.includes(key));
  return isMetadata ? { format: METADATA } : null;
}

/** Each result is a separate group, with the metadata next to it; those of a folder are the steps of an experiment. */
function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  return [...Map.groupBy(files, ({ file }) => file.folder)].flatMap(([folder, members]) => {
    const metadata = members.filter(({ recognition }) => recognition.format === METADATA);
    const results = members
      .filter(({ recognition }) => recognition.format === RESULT)
      .sort((a, b) => byNumber(a.file.name, b.file.name));
    const group_id = results.length > 1 ? groupIdOf(folder, results) : null;
    return results.map((result, step) => ({
      files: [result, ...metadata],
      name: `${basename(folder)}/${result.file.name}`,
      group_id,
      step: group_id === null ? null : step,
      repeat: null,
    }));
  });
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const [result, facts] = [fileOf(group, RESULT), fileOf(group, METADATA)];
  if (result === null) return;
  const document = new Fields(await readJsonDocument(result, notes, context), notes);
  const metadata = facts === null ? null : new Fields(await readJsonDocument(facts, notes, context), notes);
  yield experimentRun(document, metadata, notes);
}

/** A result: `aggregated_metrics` and `individual_request_metrics`; `metadata` is that of the experiment. */
function experimentRun(result: Fields, metadata: Fields | null, notes: ImportNotes): ImportedRun {
  const aggregate = result.object('aggregated_metrics');
  const scale = result.text('_time_unit') === 'ms' ? 1e-3 : 1;
  const requests = result.list('individual_request_metrics') ?? [];
  const okRequests = requests.filter(isObject).filter((request) => (request['error_code'] ?? null) === null);
  const ok = aggregate?.count('num_completed_requests') ?? null;
  const isWhole = requests.length > 0 && aggregateIsWhole(aggregate, okRequests, ok, notes);
  const system = metadata?.text('server_engine')?.toLowerCase() ?? null;
  const concurrency = aggregate?.text('iteration_type') === 'batch_size' ? null : aggregate?.count('num_concurrency');
  const url = /--api-base[= ](\S+)/.exec(metadata?.text('cmd') ?? '')?.[1];
  if (metadata === null) notes.add('experiment_metadata.json is missing: model, address and engine are unknown');
  notes.add('the file has no time of day and no time of sending per request: the run has no start time and no records');
  notes.add(
    'tokens are those of the server where it reports them, else of a tokenizer: the file does not report which',
  );
  const metrics = METRICS.flatMap((row): MeasureResult[] => {
    const [name] = row;
    const factor = COUNTS.test(name) ? 1 : scale;
    const values = numbersOf(okRequests, name, factor);
    const found = aggregate?.object('stats')?.object(name) ?? null;
    const statistics = found && readStatistics((statistic) => found.number(statistic), STATISTICS);
    // A value that is missing or cannot be true leaves the tool's own figures.
    if (isWhole && values.length === ok && values.every((value) => value >= 0))
      return checkedExact(identityOf(row), values, { what: name, statistics, scale: factor }, NUMPY_LINEAR, notes);
    return statistics?.mean == null ? [] : [statedDistribution(identityOf(row), statistics, factor)];
  });
  return reportedRun({
    tool: 'genai-bench',
    version: metadata?.text('benchmark_version') ?? null,
    format: 'genai-bench',
    scenario: aggregate?.text('scenario') ?? null,
    target: {
      origin: url === undefined ? null : publicOriginOrNull(url),
      system: system === 'vllm' || system === 'sglang' ? system : null,
      system_version: metadata?.text('server_version') ?? null,
    },
    key: {
      ...known({
        model: metadata?.text('api_model_name'),
        load: concurrency == null ? null : closedLoop(concurrency),
      }),
      ...(metadata?.text('task') === 'text-to-text' && { endpoint_type: 'chat', streaming: true }),
      stop: {
        request_count: metadata?.count('max_requests_per_run') ?? null,
        benchmark_duration_seconds: metadata?.amount('max_time_per_run_s') ?? null,
      },
    },
    stated: {
      window_seconds: aggregate?.amount('run_duration') ?? null,
      requests: { ok, error: aggregate?.count('num_error_requests') ?? null },
      errors: errorsOf(aggregate),
      measures: [
        ...metrics,
        ...statedScalars((name) => aggregate?.amount(name) ?? null, isWhole ? RATES : RATES.slice(0, 1)),
      ],
    },
    notes,
  });
}

/**
 * Whether the tool's figures are of all ok requests: with `--warmup-ratio` and `--cooldown-ratio` they are of those in the
 * middle, and its token rates divide their tokens by the time of all.
 */
function aggregateIsWhole(
  aggregate: Fields | null,
  okRequests: readonly Readonly<Record<string, unknown>>[],
  ok: number | null,
  notes: ImportNotes,
): boolean {
  const values = numbersOf(okRequests, 'num_input_tokens');
  const sum = values.reduce((a, b) => a + b, 0);
  const stated = aggregate?.object('stats')?.object('num_input_tokens')?.number('sum') ?? null;
  if (ok !== null && values.length === ok && (stated === null || stated === sum)) return true;
  notes.add(
    'the figures are without the warm-up and cool-down that the tool left out, and are taken as it states them',
  );
  return false;
}

/** By HTTP status; the tool writes 408 for its own timeout and 503 also where it could not connect. */
function errorsOf(aggregate: Fields | null): ImportedRun['stated']['errors'] {
  const codes = aggregate?.object('error_codes_frequency') ?? null;
  const reasonOf = (code: string): ErrorReason =>
    code === '408' ? 'request_timeout' : pythonError(`HTTP ${code}`).reason;
  return errorCounts((codes?.names ?? []).map((code) => [reasonOf(code), codes?.count(code) ?? null]));
}
