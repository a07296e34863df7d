import type { LoadKey } from '../../../core/run/run.ts';
import { closedLoopKey } from '../../../core/run/load-key.ts';
import type { ImportContext, ImportedRun } from '../importer.ts';
import { readInputConfig } from '../aiperf/input-config.ts';
import { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { publicOriginOrNull } from '../reading/public-origin.ts';
import { statedTime, wallInstant } from '../reading/wall-time.ts';
import { reportMeasures } from './report-measures.ts';

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
  const results = report.object('results');
  const aggregate = results?.object('request_performance')?.object('aggregate') ?? report.object('metrics');
  if (aggregate === null) throw new ImportRefusal(`${name}: the report has no figures of requests`);
  const facts = version === '0.1' ? factsOf01(report) : factsOf02(report, name);
  const config = facts.tool === 'aiperf' ? nativeConfig(report) : null;
  const native = config === null ? null : readInputConfig(config, notes);
  const requests = aggregate.object('requests');
  const counts = countsOf(requests, notes);
  const { start, seconds } = timeOf(report, aggregate, (text) => statedTime(text, timeZone, notes));
  notes.add('the report keeps statistics alone: there are no records');
  if (start !== null) notes.add('the start is that of the harness, which may be seconds before the first request');
  return {
    part: null,
    tool: { name: 'llm-d-benchmark', version: null },
    format: { name: 'llm-d-benchmark-report', schema_version: version },
    scenario: report.object('run')?.text('description') ?? null,
    target: {
      origin: native?.url == null ? facts.origin : publicOriginOrNull(native.url),
      system: facts.system,
      system_version: facts.system_version,
    },
    key: {
      ...native?.key,
      ...(facts.model !== null && { model: facts.model }),
      ...(facts.load !== undefined && { load: facts.load }),
    },
    placement: {
      group_id: report.object('run')?.text('eid') ?? null,
      step: facts.stage,
      repeat: null,
    },
    status: 'completed',
    failure: null,
    start,
    records: null,
    stated: {
      window_seconds: seconds,
      requests: counts,
      errors: {},
      measures: reportMeasures(
        aggregate,
        facts.tool,
        { ok: counts.ok, serverTokens: native?.serverTokens ?? null },
        notes,
      ),
    },
    servers: null,
    notes,
  };
}

/** What the tool itself was configured with. */
function nativeConfig(report: Fields): Fields | null {
  return report.object('scenario')?.object('load')?.object('native')?.object('config') ?? null;
}

interface LlmdFacts {
  /** What measured: `inference-perf`, `vllm-benchmark`, …; null when not reported. */
  readonly tool: string | null;
  readonly model: string | null;
  readonly origin: string | null;
  readonly system: string | null;
  readonly system_version: string | null;
  readonly load: LoadKey | undefined;
  /** Which stage of the tool's load it is. */
  readonly stage: number | null;
}

function factsOf01(report: Fields): LlmdFacts {
  const scenario = report.object('scenario');
  const load = scenario?.object('load') ?? null;
  const engine = firstOf(scenario?.object('platform')?.list('engine') ?? null, report);
  const args = load?.object('args') ?? null;
  const model = scenario?.object('model')?.text('name') ?? null;
  const url = args?.object('server')?.text('base_url') ?? null;
  return {
    tool: load?.text('name') ?? null,
    model: model === 'unknown' ? (args?.object('server')?.text('model_name') ?? null) : model,
    origin: url === null ? null : publicOriginOrNull(url),
    system: systemOf(engine?.text('name') ?? null),
    system_version: engine?.text('version') ?? null,
    load: undefined,
    stage: load?.object('metadata')?.count('stage') ?? null,
  };
}

function factsOf02(report: Fields, name: string): LlmdFacts {
  const scenario = report.object('scenario');
  const standard = scenario?.object('load')?.object('standardized') ?? null;
  const components = scenario?.list('stack') ?? [];
  const engines = components.flatMap((each) => {
    const component = isObject(each) ? new Fields(each, new ImportNotes()).object('standardized') : null;
    return component?.text('kind') === 'inference_engine' ? [component] : [];
  });
  const [engine] = engines;
  const concurrency = standard?.count('concurrency') ?? null;
  const rate = standard?.amount('rate_qps') ?? null;
  return {
    // The parts that inference-perf itself writes name it only in the file's name.
    tool: standard?.text('tool') ?? (/^inference-perf\./.test(name) ? 'inference-perf' : null),
    model: engine?.object('model')?.text('name') ?? null,
    origin: null,
    system: systemOf(engine?.text('tool') ?? null),
    system_version: engine?.text('tool_version') ?? null,
    load:
      concurrency !== null
        ? closedLoopKey(concurrency)
        : rate !== null
          ? { ...closedLoopKey(null), mode: 'request_rate', request_rate: rate }
          : undefined,
    stage: standard?.count('stage') ?? stageInName(name),
  };
}

function stageInName(name: string): number | null {
  const stage = /stage_(\d+)/.exec(name)?.[1];
  return stage === undefined ? null : Number(stage);
}

function firstOf(list: readonly unknown[] | null, report: Fields): Fields | null {
  const [first] = list ?? [];
  return isObject(first) && report.names.length > 0 ? new Fields(first, new ImportNotes()) : null;
}

function systemOf(engine: string | null): string | null {
  const name = engine?.toLowerCase() ?? '';
  return Object.hasOwn(SYSTEMS, name) ? (SYSTEMS[name] ?? null) : null;
}

function countsOf(requests: Fields | null, notes: ImportNotes): ImportedRun['stated']['requests'] {
  const total = requests?.count('total') ?? null;
  const failures = requests?.count('failures') ?? null;
  const incomplete = requests?.count('incomplete') ?? null;
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
  const run = report.object('run')?.object('time') ?? null;
  if (run !== null) {
    const seconds = durationSeconds(run.text('duration') ?? '');
    const start = run.text('start');
    return { start: start === null ? null : instantOf(start), seconds };
  }
  const time = aggregate.object('time');
  const start_s = time?.amount('start') ?? null;
  return { start: start_s === null ? null : wallInstant(start_s * 1000), seconds: time?.amount('duration') ?? null };
}
