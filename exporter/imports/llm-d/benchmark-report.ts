import { type Load, closedLoop } from '../../../core/run/load.ts';
import { known, reportedRun } from '../importer.ts';
import type { ImportContext, ImportedRun } from '../importer.ts';
import { readInputConfig } from '../aiperf/input-config.ts';
import { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { publicOriginOrNull } from '../reading/public-origin.ts';
import { statedTime, wallInstant } from '../reading/wall-time.ts';
import { reportMeasures } from './report-figures.ts';

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
