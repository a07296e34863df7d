import { closedLoop } from '../../../core/run/load.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { ALONE, fileOf, filesBy, known, reportedRun } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { Fields, isObject, numbersOf } from '../reading/fields.ts';
import { errorCounts, pythonError } from '../reading/python-error.ts';
import { readJsonDocument } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { wallInstant } from '../reading/wall-time.ts';
import { checkedExact, NUMPY_LINEAR } from '../stated/check-statistics.ts';
import {
  identityOf,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedScalars,
} from '../stated/stated-measures.ts';
import type { StatedFigure } from '../stated/stated-measures.ts';

/** LLMPerf's `token_benchmark_ray.py`: `NAME_summary.json` and `NAME_individual_responses.json`, together a run. */
export const LLMPERF: Importer = { tool: 'llmperf', recognize, group, read };

const SUMMARY = 'llmperf-summary';
const RESPONSES = 'llmperf-responses';

/** The tool reads `content` alone, and counts tokens with Llama's tokenizer, whatever the model. */
const METRICS: readonly StatedFigure[] = [
  ['ttft_s', 'time_to_first_token', 'sent_to_first_output_chunk'],
  ['end_to_end_latency_s', 'request_latency', 'sent_to_end_of_answer'],
  // The sum of its gaps is the time to the last chunk; it is divided by chunks, before December 2024 by tokens.
  ['inter_token_latency_s', 'time_per_output_token', 'time_to_last_chunk_over_chunks_or_tokens', { unit: 'seconds' }],
  ['number_input_tokens', 'input_sequence_length', 'tokenizer_prompt_tokens'],
  ['number_output_tokens', 'output_sequence_length', 'tokenizer_completion_tokens'],
];

const PER_MINUTE = 1 / 60;

const RATES: readonly StatedFigure[] = [
  ['num_completed_requests_per_min', 'request_throughput', 'ok_requests_over_wall_time', { scale: PER_MINUTE }],
  ['mean_output_throughput_token_per_s', 'output_token_throughput', 'ok_tokenizer_output_tokens_over_wall_time'],
];

/** The tool's deviation is that of a sample (n − 1), ours is that of the requests: it is not taken. */
const STATISTICS = { mean: 'mean', min: 'min', max: 'max', percentiles: percentileNames({}, 'quantiles_') };

function recognize({ head: { keys, text } }: Pick<SourceFile, 'head'>): Recognition | null {
  if (keys.includes('results_ttft_s_mean') || keys.includes('results_num_requests_started')) return { format: SUMMARY };
  const isList =
    /^\s*\[\s*\{/.test(text) && ['ttft_s', 'end_to_end_latency_s'].every((key) => text.includes(`"${key}"`));
  return isList ? { format: RESPONSES } : null;
}

const NAME = /_?(summary|individual_responses)\.json$/;

function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const runName = (name: string): string => name.replace(NAME, '');
  return filesBy(files, runName).map((members) => ({ ...ALONE, files: members, name: runName(members[0].file.name) }));
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const [summaryFile, responsesFile] = [fileOf(group, SUMMARY), fileOf(group, RESPONSES)];
  // Its writer makes texts of numpy's numbers: that is known, and no remark.
  const written = summaryFile === null ? {} : await readJsonDocument(summaryFile, notes, context);
  const summary = new Fields(written, new ImportNotes());
  const responses = responsesFile === null ? null : await readJsonDocument(responsesFile, notes, context);
  const ok = summary.count('results_num_completed_requests');
  const perMinute = summary.amount('results_num_completed_requests_per_min');
  const seconds = ok === null || perMinute === null || perMinute === 0 ? null : (ok / perMinute) * 60;
  const saved_s = summary.amount('timestamp');
  const start = saved_s === null || seconds === null ? null : wallInstant((saved_s - seconds) * 1000);
  if (start !== null) notes.add('the start is the time of saving less the duration, to the second');
  notes.add('the files do not report when each request was sent: there are no records');
  notes.add('tokens were counted by the Llama tokenizer of the tool');
  const listed = Array.isArray(responses) ? listedRequests(responses, ok, notes) : null;
  const concurrency = summary.count('num_concurrent_requests');
  yield reportedRun({
    tool: 'llmperf',
    format: 'llmperf',
    schema_version: summary.text('version'),
    key: known({ model: summary.text('model'), load: concurrency === null ? null : closedLoop(concurrency) }),
    start,
    stated: {
      window_seconds: seconds,
      requests: { ok: ok ?? listed?.length ?? null, error: summary.count('results_number_errors') },
      errors: errorsOf(summary.text('results_error_code_frequency') ?? ''),
      measures: [
        ...METRICS.flatMap((row) => metric(summary, listed, row, ok, notes)),
        ...statedScalars((name) => summary.amount(`results_${name}`), RATES),
      ],
    },
    notes,
  });
}

type Members = Readonly<Record<string, unknown>>;

/** The requests without an `error_code`; null when they are fewer than were ok: what they result in is no figure of the run. */
function listedRequests(responses: readonly unknown[], ok: number | null, notes: ImportNotes): Members[] | null {
  const listed = responses.filter(isObject).filter(({ error_code: code }) => (code ?? null) === null);
  if (ok === null || listed.length >= ok) return listed;
  notes.add(
    `the responses are a sample, ${listed.length} of ${ok} ok requests: only figures of the summary are values`,
  );
  return null;
}

function metric(
  summary: Fields,
  listed: readonly Members[] | null,
  row: StatedFigure,
  ok: number | null,
  notes: ImportNotes,
): MeasureResult[] {
  const [name] = row;
  const identity = identityOf(row);
  const statistics = readStatistics(
    (statistic) => summary.number(`results_${name}_${statistic}`),
    STATISTICS,
    listed === null ? ok : null,
  );
  const values = numbersOf(listed ?? [], name);
  // A value that is missing or cannot be true leaves the figures of the summary.
  const isWhole = values.length === listed?.length && values.every((value) => value >= 0);
  if (listed === null || (!isWhole && statistics.mean !== null))
    return statistics.mean === null ? [] : [statedDistribution(identity, statistics)];
  return checkedExact(identity, values, { what: name, statistics, scale: 1 }, NUMPY_LINEAR, notes);
}

/** Python's text of a dictionary: `{503: 4, -1: 1}`; -1 is what could not connect, timed out or broke off. */
function errorsOf(text: string): ImportedRun['stated']['errors'] {
  const entries = text.matchAll(/(-?\d+)(?:\.0)?: (\d+)/g);
  return errorCounts(
    Array.from(entries, ([, code = '', count]) => [pythonError(`HTTP ${code}`).reason, Number(count)]),
  );
}
