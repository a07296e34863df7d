import { parseText } from '../../core/exposition/index.ts';
import { OUTCOMES, PHASES } from '../../core/run/record.ts';
import { PERCENTILE_NAMES } from '../../core/run/result.ts';
import type { OwnFamilies } from '../../exporter/explain/own-family.ts';
import { requestRecord, resultFile, runFile, scalar } from '../../exporter/publish/fixtures/run.ts';
import { createLiveMetrics } from '../../exporter/publish/live-metrics.ts';
import { ResultMetrics } from '../../exporter/publish/result-metrics.ts';
import { RESULT_UNITS } from '../../exporter/publish/result-samples.ts';
import type { RunSource } from '../../exporter/publish/run-source.ts';
import { runSummary } from '../../exporter/publish/views/run-summary.ts';
import { code } from './markdown.ts';

/** What a label of our own families means. */
const LABELS: Readonly<Record<string, string>> = {
  run_id: 'the run; on every series about one',
  shard: 'which part of a run that several machines make; `0` when it is one machine',
  phase: PHASES.map(code).join(' or '),
  outcome: OUTCOMES.map(code).join(', '),
  reason: 'why a request did not end ok: [the closed list](measures.md#why-requests-fail)',
  measure:
    'a [measure](measures.md); `…_from_due` where it also counts from the due time; `requests` for the counts by outcome',
  stat: `${['mean', 'std', 'min', 'max', ...PERCENTILE_NAMES].map(code).join(', ')}; with \`all_\` before it failed requests count as infinitely slow; \`value\` for a measure that is one number`,
  state: 'of a finished run towards the page: `shown`, `expired`, `over_limit` or `damaged`',
  scenario: 'the name that `--scenario` gave',
  model: 'the model, as the server names it',
  endpoint_type: 'the API that was asked',
  system: 'the server software, as its metrics tell; empty when unknown',
  system_version: 'its version; empty when unknown',
  tool: '`llmbench`, or the tool whose result was imported',
  tool_version: 'its version',
  load: 'the load in words, such as `concurrency 64` or `request_rate 2.5 poisson`',
  fingerprint: 'runs with the same are comparable: a hash of model, load, dataset, sampling and definitions',
  group_id: 'the sweep or the repeats that a run belongs to; empty when none',
  step: 'the step of a sweep',
  repeat: 'the number of a repeat',
  version: 'the version of llmbench',
};

export interface PublishedFamily {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** The families of a run that is under way, in the order of the page, and those of finished runs by name. */
export interface PublishedFamilies {
  readonly live: readonly PublishedFamily[];
  readonly finished: readonly PublishedFamily[];
}

/** Every metric family that llmbench publishes, read from the pages that it serves. */
export async function publishedFamilies(): Promise<PublishedFamilies> {
  const live = familiesOf((await liveMetrics().render(undefined)).body);
  const finished = familiesOf((await finishedRuns().render(undefined)).body.toString());
  return { live, finished: finished.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** The same as `catalog/llmbench.json` has it, for `llmbench explain`. */
export async function ownFamilies(): Promise<OwnFamilies> {
  const { live, finished } = await publishedFamilies();
  const all = new Map([...live, ...finished].map((family) => [family.name, family]));
  const names = [...all.keys()].sort();
  const labels = new Set([...all.values()].flatMap((family) => family.labels));
  return {
    families: names.map((name) => {
      const { type, help, labels: own } = all.get(name) as PublishedFamily;
      const has = (families: readonly PublishedFamily[]): boolean => families.some((family) => family.name === name);
      const pages = [...(has(live) ? (['live'] as const) : []), ...(has(finished) ? (['finished'] as const) : [])];
      return { name, type, help, unit: unitOf(name), labels: own, pages };
    }),
    labels: Object.fromEntries([...labels].sort().map((label) => [label, plain(meaningOf(label))])),
  };
}

/** The unit that the name tells, as Prometheus' rules want it; null for facts and switches, which are 0 or 1. */
function unitOf(name: string): string | null {
  const [unit = null] =
    /(seconds|tokens_per_second|requests_per_second|tokens|ratio|requests|chunks|errors|series|runs)(?=(_in_flight|_dropped)?(_total)?$)/.exec(
      name,
    ) ?? [];
  // An error that is counted is a request.
  return unit === 'errors' ? 'requests' : unit;
}

/** Markdown for a terminal. */
const plain = (markdown: string): string => markdown.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '');

/** What a label says, in Markdown. Throws when nothing is written of it. */
export function meaningOf(label: string): string {
  const meaning = LABELS[label];
  if (meaning === undefined) throw new Error(`the label ${label} has no meaning in scripts/docs/own-families.ts`);
  return meaning;
}

function liveMetrics(): ReturnType<typeof createLiveMetrics> {
  return createLiveMetrics({ run: runFile(), version: '0', isGood: () => true });
}

function finishedRuns(): ResultMetrics {
  const run = runFile({ status: 'completed', end: '2026-11-03T10:15:11.000Z' });
  const result = resultFile({
    measures: RESULT_UNITS.map((unit) => scalar({ unit, measure: `a measure in ${unit}` })),
  });
  const source: RunSource = {
    list: async () => [{ run_id: run.run_id, summary: runSummary(run, null), damage: null }],
    readRun: async () => run,
    readResult: async () => result,
    readServers: async () => null,
    readRecords: async function* () {
      yield requestRecord();
    },
    running: async () => [],
  };
  const problem = (line: string): never => {
    throw new Error(line);
  };
  return new ResultMetrics({ source, version: '0', problem });
}

function familiesOf(text: string): PublishedFamily[] {
  return parseText(new TextEncoder().encode(text)).families.map(({ name, type, help, samples }) => {
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    labels.delete('le');
    return { name, type, help: help ?? '', labels: [...labels] };
  });
}
