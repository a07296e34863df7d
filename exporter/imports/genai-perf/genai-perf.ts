import { closedLoop, type Load } from '../../../core/run/load.ts';
import type { RequestRecord } from '../../../core/run/record.ts';
import { CSV_ROUNDING, summaryOfCsv, statedSummary } from '../aiperf/summary.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import {
  UNREPORTED,
  ALONE,
  fileOf,
  filesBy,
  known,
  reportedRun,
  type FileGroup,
  type ImportContext,
  type ImportedRun,
  type Importer,
  type RecognizedFile,
  type Recognition,
  type KnownKey,
} from '../importer.ts';
import { Fields, isObject, publicOriginOrNull } from '../reading/fields.ts';
import { JsonTextError, parseJson } from '../reading/json-text.ts';
import { readElements, readLongDocument } from '../reading/long-json/read-long-document.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';

/** One load of perf_analyzer. Its requests, with all that was answered, are read from the file as they are needed. */
interface Experiment {
  readonly mode: string | null;
  readonly value: number | null;
  /** When the first of its requests was sent; null without one. */
  readonly firstSent_ns: bigint | null;
  /** What its first request sent, as far as it is kept; null when it is not. */
  readonly payload: Fields | null;
  /** Its requests; times are ns since `zero_ns`. */
  readonly records: (zero_ns: bigint, notes: ImportNotes) => AsyncIterable<RequestRecord>;
}

export interface Profile {
  /** Without the requests. */
  readonly fields: Fields;
  readonly experiments: readonly Experiment[];
}

const REQUESTS = ['experiments', '*', 'requests'] as const;

/** Reads `profile_export.json`. Throws `ImportRefusal` when it is no JSON, and what reading throws. */
async function readProfile(file: SourceFile, notes: ImportNotes, reading: Reading): Promise<Profile> {
  const overviews = new Map<string, RequestsOverview>();
  const elements = (requests: readonly unknown[], [, index = '']: readonly string[]): void => {
    const overview = overviews.get(index) ?? { firstSent_ns: null, payload: payloadOf(requests[0]) };
    overviews.set(index, overview);
    addSent(overview, requests);
  };
  const lists = [{ path: REQUESTS, elements }];
  const fields = new Fields(await readLongDocument(file, lists, notes, reading, 'bigint'), notes);
  const again = reading.signal === undefined ? {} : { signal: reading.signal };
  const experiments = (fields.list('experiments') ?? []).map((each, i): Experiment => {
    const experiment = new Fields(each, notes, 'experiments.');
    const load = experiment.object('experiment');
    const { firstSent_ns = null, payload = null } = overviews.get(String(i)) ?? {};
    const path = ['experiments', String(i), 'requests'];
    return {
      mode: load?.text('mode') ?? null,
      value: load?.number('value') ?? null,
      firstSent_ns,
      payload,
      records: (zero_ns, own) => profileRecords(readElements(file, path, [REQUESTS], again, 'bigint'), zero_ns, own),
    };
  });
  return { fields, experiments };
}

interface RequestsOverview {
  firstSent_ns: bigint | null;
  readonly payload: Fields | null;
}

function addSent(overview: RequestsOverview, requests: readonly unknown[]): void {
  for (const request of requests) {
    const sent = isObject(request) ? nanoseconds(request['timestamp']) : null;
    if (sent !== null && (overview.firstSent_ns === null || sent < overview.firstSent_ns)) overview.firstSent_ns = sent;
  }
}

/** A time of perf_analyzer: nanoseconds, whole whatever their size. */
function nanoseconds(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
}

async function* profileRecords(
  batches: AsyncIterable<readonly unknown[]>,
  zero_ns: bigint,
  notes: ImportNotes,
): AsyncGenerator<RequestRecord> {
  let [index, position] = [0, 0];
  for await (const requests of batches) {
    for (const request of requests) {
      const record = recordOf(request, index, zero_ns);
      if (record === null) notes.count('records left out: no timestamp or response_timestamps', `request ${position}`);
      else {
        yield record;
        index += 1;
      }
      position += 1;
    }
  }
}

function recordOf(request: unknown, index: number, zero_ns: bigint): RequestRecord | null {
  if (!isObject(request)) return null;
  const sent = nanoseconds(request['timestamp']);
  const stamps = Array.isArray(request['response_timestamps']) ? request['response_timestamps'].map(nanoseconds) : [];
  const last = stamps.at(-1) ?? null;
  if (sent === null || last === null || stamps.includes(null)) return null;
  const outputs: readonly unknown[] = Array.isArray(request['response_outputs']) ? request['response_outputs'] : [];
  const contents = stamps.map((_, i) => responseContent(outputs[i]));
  const offsets = stamps.map((at) => Number((at ?? 0n) - sent));
  // Without outputs every response counts: perf_analyzer keeps one per chunk.
  const chunks = offsets.filter((_, i) => contents[i]?.hasContent !== false);
  const failed = contents.some(({ isError }) => isError);
  const none = chunks.length === 0;
  const sent_ns = Number(sent - zero_ns);
  const at = (offset: number | undefined): number | null => (offset === undefined ? null : sent_ns + offset);
  const streamed = stamps.length > 1;
  const input = contents.findLast(({ inputTokens }) => inputTokens !== null)?.inputTokens ?? null;
  const output = contents.findLast(({ outputTokens }) => outputTokens !== null)?.outputTokens ?? null;
  return {
    ...UNREPORTED,
    index,
    sent_ns,
    first_content_ns: streamed ? at(chunks[0]) : null,
    last_content_ns: at(chunks.at(-1)),
    end_ns: Number(last - zero_ns),
    outcome: failed || none ? 'error' : 'ok',
    reason: failed ? 'error_event' : none ? 'no_content' : null,
    input_tokens: input,
    input_tokens_source: input === null ? null : 'usage',
    output_tokens: output,
    output_tokens_source: output === null ? null : 'usage',
    requested_output_tokens: payloadOf(request)?.count('max_tokens') ?? null,
    chunk_offsets_ns: streamed ? chunks : [],
  };
}

/** What was sent, as far as it is kept: the model, whether it streams, how much was requested. Its text is not looked at. */
function payloadOf(request: unknown): Fields | null {
  const inputs = isObject(request) ? request['request_inputs'] : null;
  const payload = isObject(inputs) ? inputs['payload'] : null;
  return typeof payload === 'string' ? parsedFields(payload) : null;
}

/** A value within a text; null of what is no JSON. */
function parsedFields(text: string): Fields | null {
  try {
    return new Fields(parseJson(text).value, new ImportNotes());
  } catch (error) {
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}

/** What one response of a request brought, as perf_analyzer kept it. */
interface ResponseContent {
  /** It held text, reasoning or a tool call; null when the file keeps no outputs. */
  readonly hasContent: boolean | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly isError: boolean;
}

const UNKNOWN: ResponseContent = { hasContent: null, inputTokens: null, outputTokens: null, isError: false };
const EMPTY: ResponseContent = { ...UNKNOWN, hasContent: false };

/** Reads `{"response": "data: {…}\n\n"}` (OpenAI, several events at once too) and `{"text_output": "…"}` (Triton). */
function responseContent(output: unknown): ResponseContent {
  if (!isObject(output)) return UNKNOWN;
  const { response, text_output: text } = output;
  if (typeof text === 'string') return { ...UNKNOWN, hasContent: text !== '' };
  if (typeof response !== 'string') return UNKNOWN;
  return response
    .split('\n')
    .map((line) => line.replace(/^data:\s?/, '').trim())
    .filter((line) => line !== '' && line !== '[DONE]' && !line.startsWith(':') && !line.startsWith('event:'))
    .map(eventContent)
    .reduce(joined, EMPTY);
}

function joined(a: ResponseContent, b: ResponseContent): ResponseContent {
  return {
    hasContent: a.hasContent === true || b.hasContent === true,
    inputTokens: b.inputTokens ?? a.inputTokens,
    outputTokens: b.outputTokens ?? a.outputTokens,
    isError: a.isError || b.isError,
  };
}

function eventContent(line: string): ResponseContent {
  // An event that perf_analyzer split has no content itself.
  const event = parsedFields(line);
  if (event === null) return EMPTY;
  const usage = event.at('usage');
  const choices = event.list('choices') ?? [];
  return {
    hasContent: choices.some((choice) => isObject(choice) && hasContent(choice)),
    inputTokens: usage.count('prompt_tokens'),
    outputTokens: usage.count('completion_tokens'),
    isError: isObject(event.raw('error')),
  };
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function hasContent(choice: Readonly<Record<string, unknown>>): boolean {
  const delta = choice['delta'] ?? choice['message'];
  if (isText(choice['text'])) return true;
  if (!isObject(delta)) return false;
  const { content, reasoning_content: reasoning, reasoning: other, tool_calls: calls } = delta;
  return [content, reasoning, other].some(isText) || (Array.isArray(calls) && calls.length > 0);
}

const PROFILE = 'perf-analyzer-profile';
const SUMMARY = 'genai-perf-summary';
const SUMMARY_CSV = 'genai-perf-summary-csv';

/** Which of the files of GenAI-Perf and its perf_analyzer it is; null when it is none. Asked after AIPerf's importer. */
function recognizeGenaiPerf({ head, name }: SourceFile): Recognition | null {
  const keys = new Set(head.keys);
  if (keys.has('experiments') && /"(experiment|requests|response_timestamps)"\s*:/.test(head.text)) {
    return { format: PROFILE };
  }
  if (/^Metric,avg,min,max,p99,p95,/.test(head.firstLine)) return { format: SUMMARY_CSV };
  if (/^(llm_)?inputs\.json$/.test(name) && keys.has('data') && head.text.includes('"payload"')) {
    return { format: 'genai-perf-inputs', ignored: 'prompts, which are not kept' };
  }
  const hasMetrics = keys.has('request_latency') || keys.has('request_throughput');
  return hasMetrics && /"unit"\s*:/.test(head.text) && /"avg"\s*:/.test(head.text) ? { format: SUMMARY } : null;
}

/** The results of NVIDIA GenAI-Perf, AIPerf's predecessor, and of the perf_analyzer below it. */
export const GENAI_PERF: Importer = {
  tool: 'genai-perf',
  recognize: recognizeGenaiPerf,
  group: groupGenaiPerf,
  read: readGenaiPerf,
};

/** A time above this is since 1970; below it is since some start that the file does not report. */
const EARLIEST_WALL_NS = 10n ** 17n;

/** The files of one folder with one prefix: `P.json`, `P_genai_perf.json`, `P_genai_perf.csv`. */
function groupGenaiPerf(files: readonly RecognizedFile[]): FileGroup[] {
  return filesBy(files, (name) => name.replace(/\.[^.]+$/, '').replace(/_genai_perf$/, '')).map((group) => {
    const has = (format: string): boolean => group.some(({ recognition }) => recognition.format === format);
    const used = group.filter(({ recognition }) => recognition.format !== SUMMARY_CSV || !has(SUMMARY));
    const name = used[0]?.file.folder.split(/[/\\]/).at(-1) ?? '';
    return { ...ALONE, files: used, name, partial: !has(SUMMARY) && !has(SUMMARY_CSV) };
  });
}

async function* readGenaiPerf(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const summary = await readSummary(group, notes, context);
  const file = fileOf(group, PROFILE);
  const profile = file === null ? null : await readProfile(file, notes, context);
  const experiments = profile?.experiments ?? [null];
  if (experiments.length === 0) throw new ImportRefusal('its list of experiments is empty: nothing was measured');
  const rounding = summary.isCsv ? CSV_ROUNDING : 0;
  for (const [step, experiment] of experiments.entries()) {
    const own = experiments.length === 1 ? notes : new ImportNotes();
    // A summary is of one experiment: of several it is not reported which.
    const isSummarized = experiments.length === 1 && summary.fields.names.length > 0;
    const stated = isSummarized ? statedSummary(summary.fields, own, { serverTokens: false, rounding }) : {};
    yield reportedRun({
      ...(experiment === null ? {} : recordsOf(experiment, own)),
      part: experiments.length === 1 ? null : partName(experiment, step),
      tool: 'genai-perf',
      version: profile?.fields.text('version') ?? null,
      format: profile === null ? SUMMARY : PROFILE,
      target: { origin: originOf(summary.fields) },
      key: knownKey(summary.fields.at('input_config'), experiment, profile?.fields.text('endpoint') ?? null),
      placement:
        experiments.length === 1 ? group : { group_id: `${group.name}-experiments`, step, repeat: group.repeat },
      stated,
      notes: own,
    });
  }
}

function recordsOf(
  { firstSent_ns: zero_ns, records }: Experiment,
  notes: ImportNotes,
): Partial<Pick<ImportedRun, 'start' | 'records'>> {
  if (zero_ns === null) return {};
  const isWall = zero_ns > EARLIEST_WALL_NS;
  if (!isWall) notes.add('times do not count from 1970: the run has no start time');
  // Whole milliseconds, as run.json has the start; a separate clock begins with the first request.
  const start_ns = isWall ? zero_ns - (zero_ns % 1_000_000n) : zero_ns;
  return {
    start: isWall ? new Date(Number(start_ns / 1_000_000n)).toISOString() : null,
    records: records(start_ns, notes),
  };
}

const partName = (experiment: Experiment | null, step: number): string =>
  `${step} ${experiment?.mode ?? 'load'} ${experiment?.value ?? 'unknown'}`;

interface SummaryFile {
  readonly fields: Fields;
  readonly isCsv: boolean;
}

async function readSummary(group: FileGroup, notes: ImportNotes, context: ImportContext): Promise<SummaryFile> {
  const json = fileOf(group, SUMMARY);
  if (json !== null) return { fields: new Fields(await readJsonDocument(json, notes, context), notes), isCsv: false };
  const csv = fileOf(group, SUMMARY_CSV);
  if (csv === null) return { fields: new Fields({}, notes), isCsv: false };
  notes.add('values are from a CSV with two decimals');
  return { fields: new Fields(summaryOfCsv(await readText(csv, context)), notes), isCsv: true };
}

function originOf(summary: Fields): string | null {
  const config = summary.at('input_config');
  const url = config.at('endpoint').text('url') ?? config.text('url') ?? config.text('u');
  return url === null ? null : publicOriginOrNull(url);
}

/**
 * What is known of how a run was set up: from `input_config` of the summary, in its flat form (the arguments of the command)
 * and in the later one with `endpoint` and `perf_analyzer`, and from the profile.
 */
function knownKey(config: Fields, experiment: Experiment | null, endpoint: string | null): KnownKey {
  const part = config.at('endpoint');
  const payload = experiment?.payload ?? null;
  return known({
    model: firstText(config.raw('model_names') ?? config.raw('model')) ?? payload?.text('model'),
    endpoint_type: part.text('type') ?? config.text('endpoint_type') ?? typeOf(endpoint),
    streaming: part.boolean('streaming') ?? config.boolean('streaming') ?? payload?.boolean('stream'),
    load: loadOf(experiment, config),
  });
}

function firstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

function typeOf(endpoint: string | null): string | null {
  if (endpoint === null) return null;
  if (endpoint.endsWith('chat/completions')) return 'chat';
  return endpoint.endsWith('completions') ? 'completions' : null;
}

function loadOf(experiment: Experiment | null, config: Fields): Load | null {
  const stimulus = config.at('perf_analyzer').at('stimulus');
  const isMode = (mode: string): number | null => (experiment?.mode === mode ? experiment.value : null);
  const rate = isMode('request_rate') ?? stimulus.number('request_rate') ?? config.number('request_rate');
  if (rate !== null) return { ...closedLoop(null), mode: 'request_rate', request_rate: rate };
  const concurrency = isMode('concurrency') ?? stimulus.count('concurrency') ?? config.count('concurrency');
  return concurrency === null ? null : closedLoop(concurrency);
}
