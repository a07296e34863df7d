import { TOKENIZER_DEFINITIONS, UNKNOWN_SOURCE_DEFINITIONS } from '../../../core/measures/foreign-definitions.ts';
import { closedLoop, type Load } from '../../../core/run/load.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { readInputConfig } from '../aiperf/input-config.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import { byNumber, known, reportedRun, groupReports } from '../importer.ts';
import type { ImportContext, ImportedRun, FileGroup, Importer, RecognizedFile, Recognition } from '../importer.ts';
import { Fields, isObject, publicOriginOrNull } from '../reading/fields.ts';
import { readJsonDocument, readYamlDocument } from '../reading/read-document.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { statedTime, wallInstant } from '../reading/wall-time.ts';
import {
  identityOf,
  percentileNames,
  readStatistics,
  statedDistribution,
  statedScalar,
  type StatedFigure,
} from '../stated/stated-measures.ts';

const STATISTICS = {
  ...{ mean: 'mean', std: 'stddev', min: 'min', max: 'max' },
  percentiles: percentileNames({ p99_9: 'p99p9' }),
};

/** The report's own units of each kind of figure, and what makes base units of them. */
type Scales = Readonly<Record<string, number>>;
const TIMES: Scales = { s: 1, ms: 1e-3, us: 1e-6, 's/token': 1, 'ms/token': 1e-3, 'us/token': 1e-6 };
const COUNTS: Scales = { count: 1, tokens: 1 };
const REQUESTS_PER_SECOND: Scales = { 'queries/s': 1 };
const TOKENS_PER_SECOND: Scales = { 'tokens/s': 1 };

/** Each rate: its name, that in version 0.1, where it is a plain number, and its measure. */
const RATES = [
  ['request_rate', 'requests_per_sec', 'request_throughput'],
  ['input_token_rate', 'input_tokens_per_sec', 'input_token_throughput'],
  ['output_token_rate', 'output_tokens_per_sec', 'output_token_throughput'],
  ['total_token_rate', 'total_tokens_per_sec', 'total_token_throughput'],
] as const;

/** What the figures of a report mean: it has them under common names, not by common definitions. */
interface ToolDefinitions {
  readonly latencies: readonly StatedFigure[];
  /** In the order of `RATES`. */
  readonly rates: readonly [string, string, string, string];
  readonly lengths: readonly StatedFigure[];
}

const LENGTHS: ToolDefinitions['lengths'] = [
  ['input_length', 'input_sequence_length', 'prompt_tokens_of_unknown_source'],
  ['output_length', 'output_sequence_length', 'completion_tokens_of_unknown_source'],
];

const OVER_WALL_TIME: ToolDefinitions['rates'] = [
  'ok_requests_over_wall_time',
  'input_tokens_of_unknown_source_over_wall_time',
  'output_tokens_of_unknown_source_over_wall_time',
  'tokens_of_unknown_source_over_wall_time',
];

const PER_OUTPUT_TOKEN = { unit: 'seconds' } as const;

/** By the tool that measured. */
const TOOLS: Readonly<Record<string, ToolDefinitions>> = {
  'inference-perf': {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_output_chunk'],
      ['time_per_output_token', 'inter_token_latency', 'per_request_mean_tokens_of_unknown_source'],
      [
        'normalized_time_per_output_token',
        'time_per_output_token',
        'request_latency_over_output_tokens',
        PER_OUTPUT_TOKEN,
      ],
      ['inter_token_latency', 'inter_chunk_latency', 'gap_between_tokens_of_chunks'],
      ['request_latency', 'request_latency', 'sent_to_end_of_answer'],
    ],
    rates: [
      'ok_requests_over_window',
      'ok_input_tokens_of_unknown_source_over_window',
      'ok_output_tokens_of_unknown_source_over_window',
      'ok_input_and_output_tokens_of_unknown_source_over_window',
    ],
    lengths: LENGTHS,
  },
  'vllm-benchmark': {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_chunk'],
      ['time_per_output_token', 'inter_token_latency', 'per_request_mean_between_chunks_tokens_of_unknown_source'],
      ['inter_token_latency', 'inter_chunk_latency', 'gap_between_chunks'],
      ['request_latency', 'request_latency', 'sent_to_last_chunk'],
    ],
    rates: OVER_WALL_TIME,
    lengths: LENGTHS,
  },
  guidellm: {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_content_chunk'],
      ['time_per_output_token', 'time_per_output_token', 'time_to_last_token_over_output_tokens', PER_OUTPUT_TOKEN],
      ['inter_token_latency', 'inter_token_latency', 'per_request_mean_weighted_by_tokens'],
      ['request_latency', 'request_latency', 'sent_to_end_of_answer'],
    ],
    rates: [
      'ok_requests_ended_over_measurement',
      'ok_input_tokens_spread_over_measurement',
      'ok_output_tokens_spread_over_measurement',
      'ok_tokens_spread_over_measurement',
    ],
    lengths: LENGTHS,
  },
};

/** AIPerf's, converted by llm-d-benchmark; its rates are over the whole phase. `serverTokens`: null if that is not reported. */
function aiperfDefinitions(serverTokens: boolean | null): ToolDefinitions {
  const table = serverTokens === null ? UNKNOWN_SOURCE_DEFINITIONS : serverTokens ? {} : TOKENIZER_DEFINITIONS;
  const counted = (definition: string): string => table[definition] ?? definition;
  const overWallTime = (definition: string): string => counted(definition).replace(/_over_window$/, '_over_wall_time');
  return {
    latencies: [
      ['time_to_first_token', 'time_to_first_token', 'sent_to_first_content_chunk'],
      ['inter_token_latency', 'inter_token_latency', counted('per_request_mean_from_usage')],
      ['request_latency', 'request_latency', 'sent_to_last_content_chunk'],
    ],
    rates:
      serverTokens === null
        ? OVER_WALL_TIME
        : [
            OVER_WALL_TIME[0],
            overWallTime('ok_input_tokens_over_window'),
            overWallTime('ok_output_tokens_over_window'),
            overWallTime('ok_input_and_output_tokens_over_window'),
          ],
    lengths: [
      ['input_length', 'input_sequence_length', counted('usage_prompt_tokens')],
      ['output_length', 'output_sequence_length', counted('usage_completion_tokens')],
    ],
  };
}

/** Of each ok request there is one. */
const OF_EACH: ReadonlySet<string> = new Set([
  'request_latency',
  'time_to_first_token',
  'input_length',
  'output_length',
]);

/**
 * The figures of `results.request_performance.aggregate` (0.2) or `metrics` (0.1): `requests`, `latency` and `throughput`.
 * `tool` is what measured: where its definitions are not known here, only lengths are taken. `ok`: successful requests.
 * `serverTokens`: whether AIPerf took the server's counts of tokens; null if that is not reported.
 */
function reportMeasures(
  aggregate: Fields,
  tool: string | null,
  { ok, serverTokens }: { readonly ok: number | null; readonly serverTokens: boolean | null },
  notes: ImportNotes,
): MeasureResult[] {
  const ofTool = tool !== null && Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  const known = tool === 'aiperf' ? aiperfDefinitions(serverTokens) : ofTool;
  const distributions = (parent: Fields, table: readonly StatedFigure[], scales: Scales): MeasureResult[] =>
    table.flatMap((row) => {
      const [name] = row;
      const found = parent.object(name);
      if (found === null || isNothing(found)) return [];
      const scale = scaleOf(found, name, scales, notes);
      if (scale === null) return [];
      const statistics = readStatistics((each) => found.amount(each), STATISTICS, OF_EACH.has(name) ? ok : null);
      return [statedDistribution(identityOf(row), statistics, scale)];
    });
  const lengths = distributions(aggregate.at('requests'), known?.lengths ?? LENGTHS, COUNTS);
  if (known === undefined) {
    const why =
      tool === null ? 'the report does not name the tool that measured' : `the definitions of ${tool} are unknown`;
    notes.add(`latencies and rates left out: ${why}`);
    return lengths;
  }
  const latencies = distributions(aggregate.at('latency'), known.latencies, TIMES);
  const throughput = aggregate.at('throughput');
  const rates = RATES.flatMap(([name, before, measure], i) => {
    const rate = throughput.has(name) ? rateOf(throughput, name, notes) : throughput.amount(before);
    return rate === null ? [] : [statedScalar({ measure, definition: known.rates[i] ?? '' }, rate)];
  });
  return [...latencies, ...lengths, ...rates];
}

function rateOf(throughput: Fields, name: string, notes: ImportNotes): number | null {
  const rate = throughput.object(name);
  const scale = rate && scaleOf(rate, name, name === 'request_rate' ? REQUESTS_PER_SECOND : TOKENS_PER_SECOND, notes);
  const mean = rate?.amount('mean') ?? null;
  return scale === null || mean === null ? null : mean * scale;
}

/** What makes base units of a figure; null, and a note, if its units are not known. */
function scaleOf(figure: Fields, name: string, scales: Scales, notes: ImportNotes): number | null {
  const units = figure.text('units') ?? '';
  const scale = Object.hasOwn(scales, units) ? scales[units] : undefined;
  if (scale === undefined) notes.add(`${name} left out: its units, "${units}", are not known here`);
  return scale ?? null;
}

/** The converter to version 0.1 writes a mean of 0 alone where the tool reports nothing. */
function isNothing(statistics: Fields): boolean {
  const figures = statistics.names.filter((name) => name !== 'units');
  return figures.every(
    (name) => statistics.number(name) === null || (name === 'mean' && statistics.number(name) === 0),
  );
}

const KNOWN_VERSIONS = ['0.1', '0.2', '0.2.1'];

/** Engines that write their own names in reports. */
const SYSTEMS: Readonly<Record<string, string>> = { vllm: 'vllm', sglang: 'sglang', 'tensorrt-llm': 'trtllm' };

/** The run of a benchmark report; `name` is that of its file. Throws `ImportRefusal` when it holds no request figures. */
export function reportRun(value: unknown, name: string, { timeZone }: ImportContext): ImportedRun {
  const notes = new ImportNotes();
  if (!isObject(value)) throw new ImportRefusal(`${name}: it is not an object`);
  const report = new Fields(value, notes);
  const version = report.text('version');
  if (version !== null && !KNOWN_VERSIONS.includes(version)) {
    notes.add(`version ${version} of the report is not known here: known members were imported`);
  }
  const aggregate = report.at('results').at('request_performance').object('aggregate') ?? report.object('metrics');
  if (aggregate === null) throw new ImportRefusal(`${name}: the report has no figures of requests`);
  const facts = version === '0.1' ? factsOf01(report) : factsOf02(report, name);
  // What the tool itself was configured with.
  const config = facts.tool === 'aiperf' ? report.at('scenario').at('load').at('native').object('config') : null;
  const native = config === null ? null : readInputConfig(config, notes);
  const counts = countsOf(aggregate.at('requests'), notes);
  const { start, seconds } = timeOf(report, aggregate, (text) => statedTime(text, timeZone, notes));
  notes.add('the report keeps statistics alone: there are no records');
  if (start !== null) notes.add('the start is that of the harness, which may be seconds before the first request');
  const tokens = { ok: counts.ok, serverTokens: native?.serverTokens ?? null };
  return reportedRun({
    tool: 'llm-d-benchmark',
    format: 'llm-d-benchmark-report',
    schema_version: version,
    scenario: report.at('run').text('description'),
    target: {
      origin: native?.url == null ? facts.origin : publicOriginOrNull(native.url),
      system: facts.system,
      system_version: facts.system_version,
    },
    key: { ...native?.key, ...known({ model: facts.model, load: facts.load }) },
    placement: { group_id: report.at('run').text('eid'), step: facts.stage, repeat: null },
    start,
    stated: {
      window_seconds: seconds,
      requests: counts,
      measures: reportMeasures(aggregate, facts.tool, tokens, notes),
    },
    notes,
  });
}

interface LlmdFacts {
  /** What measured: `inference-perf`, `vllm-benchmark`, …; null when not reported. */
  readonly tool: string | null;
  readonly model: string | null;
  readonly origin: string | null;
  readonly system: string | null;
  readonly system_version: string | null;
  readonly load: Load | undefined;
  /** Which stage of the tool's load it is. */
  readonly stage: number | null;
}

function factsOf01(report: Fields): LlmdFacts {
  const scenario = report.at('scenario');
  const load = scenario.at('load');
  const engine = firstOf(scenario.at('platform').list('engine'));
  const server = load.at('args').at('server');
  const model = scenario.at('model').text('name');
  const url = server.text('base_url');
  return {
    tool: load.text('name'),
    model: model === 'unknown' ? server.text('model_name') : model,
    origin: url === null ? null : publicOriginOrNull(url),
    system: systemOf(engine.text('name')),
    system_version: engine.text('version'),
    load: undefined,
    stage: load.at('metadata').count('stage'),
  };
}

function factsOf02(report: Fields, name: string): LlmdFacts {
  const scenario = report.at('scenario');
  const standard = scenario.at('load').at('standardized');
  const components = (scenario.list('stack') ?? []).filter(isObject).map((each) => firstOf([each]).at('standardized'));
  const engine = components.find((component) => component.text('kind') === 'inference_engine') ?? firstOf(null);
  const concurrency = standard.count('concurrency');
  const rate = standard.amount('rate_qps');
  const open = { ...closedLoop(null), mode: 'request_rate', request_rate: rate } as const;
  return {
    // The parts that inference-perf itself writes name it only in the file's name.
    tool: standard.text('tool') ?? (/^inference-perf\./.test(name) ? 'inference-perf' : null),
    model: engine.at('model').text('name'),
    origin: null,
    system: systemOf(engine.text('tool')),
    system_version: engine.text('tool_version'),
    load: concurrency !== null ? closedLoop(concurrency) : rate !== null ? open : undefined,
    stage: standard.count('stage') ?? stageInName(name),
  };
}

function stageInName(name: string): number | null {
  const stage = /stage_(\d+)/.exec(name)?.[1];
  return stage === undefined ? null : Number(stage);
}

/** The first of a list, without members when there is none; what it does not hold is no remark. */
function firstOf(list: readonly unknown[] | null): Fields {
  return new Fields(list?.[0], new ImportNotes());
}

function systemOf(engine: string | null): string | null {
  const name = engine?.toLowerCase() ?? '';
  return Object.hasOwn(SYSTEMS, name) ? (SYSTEMS[name] ?? null) : null;
}

function countsOf(requests: Fields, notes: ImportNotes): ImportedRun['stated']['requests'] {
  const total = requests.count('total');
  const failures = requests.count('failures');
  const incomplete = requests.count('incomplete');
  // Some converters write as the total what succeeded, others all requests: without the failures it is unknown.
  const ok = total === null || failures === null ? null : total - failures - (incomplete ?? 0);
  if (ok !== null && ok < 0)
    notes.disagreement(`requests: the file states ${total} in total, and ${failures} failures`);
  return { ok: ok !== null && ok < 0 ? null : ok, error: failures, timeout: null, cancelled: incomplete };
}

const DURATION = /^P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Seconds of an ISO 8601 duration in days and less; null for any other text. */
function durationSeconds(text: string): number | null {
  const [, ...parts] = DURATION.exec(text) ?? [];
  if (parts.every((part) => part === undefined)) return null;
  const [days = '0', hours = '0', minutes = '0', seconds = '0'] = parts;
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
}

/** 0.2: RFC 3339 and an ISO 8601 duration under `run.time`; 0.1: seconds under `metrics.time`. */
function timeOf(
  report: Fields,
  aggregate: Fields,
  instantOf: (text: string) => string | null,
): { readonly start: string | null; readonly seconds: number | null } {
  const run = report.at('run').object('time');
  if (run !== null) {
    const seconds = durationSeconds(run.text('duration') ?? '');
    const start = run.text('start');
    return { start: start === null ? null : instantOf(start), seconds };
  }
  const time = aggregate.at('time');
  const start_s = time.amount('start');
  return { start: start_s === null ? null : wallInstant(start_s * 1000), seconds: time.amount('duration') };
}

/** The benchmark reports of llm-d-benchmark, versions 0.1 and 0.2, in YAML or JSON; each is a run. */
export const LLM_D: Importer = { tool: 'llm-d-benchmark', recognize, conversionOf, group, read };

/** 0.2: `run` and `results`; 0.1: `metrics` and `scenario`, sorted or not. */
/** `benchmark_report_v0.2,_stage_0_lifecycle_metrics.json.yaml`: the version, and the result that was converted. */
const REPORT_NAME = /^benchmark_report(?:_v([\d.]+))?(?:,_(.+))?\.(?:ya?ml|json)$/;

function recognize({ head: { text, keys }, name }: Pick<SourceFile, 'head' | 'name'>): Recognition | null {
  const names = keys.length > 0 ? keys : Array.from(text.matchAll(/^(\w+):/gm), ([, name]) => name ?? '');
  const has = (name: string): boolean => names.includes(name);
  const isLater = has('run') && /\buid"?\s*:/.test(text) && /\b(request|session)_performance"?\s*:/.test(text);
  const isEarlier = has('metrics') && /\btime_to_first_token"?\s*:/.test(text) && /\bunits"?\s*:/.test(text);
  if (!isLater && !isEarlier) return null;
  const isOfSessions = /_session_lifecycle_metrics\.json\.ya?ml$/.test(name);
  return { format: 'llm-d-benchmark-report', ...(isOfSessions && { ignored: 'sessions, not requests' }) };
}

function conversionOf({ name }: SourceFile): string | null {
  return REPORT_NAME.exec(name)?.[2] ?? null;
}

/** Of the reports of one result, which are written in each version, the latest. */
function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const versions = Map.groupBy(files, ({ file: { folder, name } }) => {
    const named = REPORT_NAME.exec(name);
    return `${folder}\0${named === null ? name : `benchmark_report,${named[2] ?? ''}`}`;
  });
  const versionOf = ({ file }: RecognizedFile): string => REPORT_NAME.exec(file.name)?.[1] ?? '';
  const latest = [...versions.values()].flatMap((reports) => {
    const version = reports.map(versionOf).sort(byNumber).at(-1);
    return reports.filter((each) => versionOf(each) === version);
  });
  return groupReports(latest);
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file } of group.files) {
    const isJson = file.head.text.trimStart().startsWith('{');
    const value = isJson
      ? await readJsonDocument(file, new ImportNotes(), context)
      : await readYamlDocument(file, context);
    yield reportRun(value, file.name, context);
  }
}
