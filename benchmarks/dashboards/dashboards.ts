import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JUDGED_SCENARIO } from '../../dashboards/testing/benchmark.ts';
import { matrixQuery, ruleGroups, type Series } from '../../dashboards/testing/prometheus-api.ts';
import { startStack } from '../../dashboards/testing/stack.ts';
import { APP_FOLDER, DASHBOARDS, NATIVE_FOLDER } from '../../dashboards/src/dashboards.ts';
import { ensurePrometheus } from '../../prometheus/programs.mjs';
import { startPrometheus } from '../../prometheus/server.ts';
import type { PrometheusPrograms } from '../../prometheus/programs.mjs';
import type { Bench, BenchContext, Row } from '../bench.ts';
import { Unavailable } from '../workshop.ts';
import { dashboardCosts, type QueryCost } from './dashboard-queries.ts';
import { NIGHTS, SCENARIOS, writeNightlyRuns, type RecordedRun } from './nightly-runs.ts';

const DAY_SECONDS = 86_400;
const SLOWEST_QUERY_TARGET_MS = 1_000;
/** Seconds before and after the run that belong to what is stored of it: it is found, and its result is published. */
const AROUND_SECONDS = 30;

/**
 * The question: what do 30 days of nightly runs cost in Prometheus?
 * Measured: what a real Prometheus stores of one run against simulated servers of every system; then every query of every
 * dashboard over 30 days that contain this run as each of three scenarios of every night, with 30 runs chosen, as Grafana sends
 * them; and what the groups of rules take during the run.
 * It does not show: results that the exporter exposes every minute all day; queries at the same time; a cold page cache.
 */
export const dashboards: Bench = {
  name: 'dashboards',
  question: 'what do 30 days of nightly runs cost in Prometheus, and how long does each dashboard take?',
  measure: async (context: BenchContext): Promise<readonly Row[]> => {
    const programs = await ensurePrometheus({ install: false });
    if (programs === null) throw new Unavailable('Prometheus is missing: node prometheus/programs.mjs unpacks it');
    const folder = await mkdtemp(join(context.workshop.folder, 'dashboards-'));
    try {
      const { recorded, rows } = await record(programs, context);
      return [...rows, ...(await overThirtyDays(recorded, programs, folder, context))];
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

async function record(
  programs: PrometheusPrograms,
  { rounds }: BenchContext,
): Promise<{ readonly recorded: RecordedRun; readonly rows: readonly Row[] }> {
  const stack = await startStack(programs);
  try {
    const evaluations = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      for (const { name, evaluationTime } of await ruleGroups(stack.prometheusUrl)) {
        evaluations.set(name, [...(evaluations.get(name) ?? []), evaluationTime * 1000]);
      }
      await new Promise((resolve) => setTimeout(resolve, EVALUATION_INTERVAL_MS));
    }
    const untilSeconds = stack.run.endSeconds + AROUND_SECONDS;
    await new Promise((resolve) => setTimeout(resolve, untilSeconds * 1000 - Date.now()));
    const seconds = Math.ceil(stack.run.endSeconds - stack.run.startSeconds) + 2 * AROUND_SECONDS;
    const series = await matrixQuery(stack.prometheusUrl, `{__name__!=""}[${seconds}s]`, untilSeconds);
    const recorded = { run: stack.run, series, judged: JUDGED_SCENARIO };
    const own = series.filter(({ metric }) => metric['run_id'] === stack.run.runId);
    const results = own.filter(({ metric }) => metric['job'] === 'llmbench');
    const verdicts = series.filter(({ metric }) => metric['scenario'] === JUDGED_SCENARIO && !metric['run_id']);
    const server = series.filter(({ metric }) => metric['job'] === 'llmbench-server');
    const countOf = (of: readonly Series[]): number => of.reduce((sum, each) => sum + each.samples.length, 0);
    const runSeconds = Math.round(stack.run.endSeconds - stack.run.startSeconds);
    return {
      recorded,
      rows: [
        row('series of a run, by its run_id', 'series', [own.length]),
        row(`their samples in ${runSeconds} s and ${2 * AROUND_SECONDS} s around`, 'samples', [countOf(own)]),
        row("of these on the exporter's page", 'series', [results.length]),
        row('series of a scenario: verdicts and state', 'series', [verdicts.length]),
        row('series of the vLLM that it measures', 'series', [server.length]),
        row('their samples', 'samples', [countOf(server)]),
        ...[...evaluations].map(([name, ms]) => row(`evaluation of the rules ${name}`, 'ms', ms)),
      ],
    };
  } finally {
    await stack.stop();
  }
}

const EVALUATION_INTERVAL_MS = 5_000;

async function overThirtyDays(
  recorded: RecordedRun,
  programs: PrometheusPrograms,
  folder: string,
  context: BenchContext,
): Promise<readonly Row[]> {
  const dataFolder = join(folder, 'data');
  await mkdir(dataFolder);
  const endSeconds = Math.floor(Date.now() / 1000);
  const { runIds, samples } = await writeNightlyRuns(recorded, endSeconds, { promtool: programs.promtool, dataFolder });
  const configFile = join(folder, 'prometheus.yml');
  await writeFile(configFile, 'scrape_configs: []\n');
  const flags = ['--storage.tsdb.retention.time=60d'];
  const prometheus = await startPrometheus({ programs, configFile, dataFolder, flags });
  try {
    const ofOneScenario = runIds.filter((_, index) => index % SCENARIOS === 0);
    const opened = {
      url: prometheus.url,
      startSeconds: endSeconds - NIGHTS * DAY_SECONDS,
      endSeconds,
      runIds: ofOneScenario,
    };
    context.note(
      `${runIds.length} runs of ${SCENARIOS} scenarios: ${samples.toLocaleString('en-US')} samples in 30 days`,
    );
    const rows: Row[] = [];
    for (const [file] of DASHBOARDS.filter(([name]) => !name.startsWith(APP_FOLDER))) {
      const url = new URL(file, new URL('../../dashboards/', import.meta.url));
      const all: (readonly QueryCost[])[] = [];
      for (let round = 0; round < context.rounds; round++) all.push(await dashboardCosts(url, opened));
      const name = `${file.replace(/^.*llmbench-|\.json$/g, '')}${file.startsWith(NATIVE_FOLDER) ? ', native' : ''}`;
      const [costs = []] = all;
      const slowest = costs.toSorted((a, b) => b.ms - a.ms)[0];
      rows.push(
        row(
          `${name}: all ${costs.length} queries`,
          'ms',
          all.map((each) => each.reduce((sum, { ms }) => sum + ms, 0)),
        ),
        row(
          `${name}: the slowest`,
          'ms',
          all.map((each) => Math.max(...each.map(({ ms }) => ms))),
          SLOWEST_QUERY_TARGET_MS,
        ),
      );
      const touched = costs.reduce((sum, each) => sum + each.series, 0);
      const read = costs.reduce((sum, each) => sum + each.samples, 0);
      context.note(
        `${name}: ${touched} series shown, ${read.toLocaleString('en-US')} samples read; slowest: ${slowest?.panel ?? ''}`,
      );
    }
    return rows;
  } finally {
    await prometheus.stop();
  }
}

function row(what: string, unit: string, ours: readonly number[], atMost: number | null = null): Row {
  return { what, unit, ours, peer: null, target: atMost === null ? null : { by: 'value', atMost } };
}
