import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPrometheusConfig, RESTORE_NAMES } from '../../prometheus/config.ts';
import { startPrometheus } from '../../prometheus/server.ts';
import type { PrometheusPrograms } from '../../prometheus/programs.mjs';
import { JUDGED_SCENARIO, judgeRuns, runBenchmark, type FinishedRun } from './benchmark.ts';
import { startProgram } from './programs.ts';
import { instantQuery } from './prometheus-api.ts';
import { RECORDINGS, startReplayer, type Replayer } from './replayer.ts';
import { BENCHMARKED, startSimulators, type Simulated } from './simulators.ts';

function rulesIn(folder: string): string {
  return fileURLToPath(new URL(`../../${folder}/*.yml`, import.meta.url));
}

/** How a Prometheus stores histograms, and the rules that it evaluates. */
export interface Storage {
  /** Lines of the section `global` of its configuration. */
  readonly global: readonly string[];
  /** Folder of the recording rules, from the root of the repository. */
  readonly rules: string;
  readonly flags: readonly string[];
}

const CLASSIC: Storage = { global: [], rules: 'prometheus/rules', flags: [] };
const BENCHMARK_SECONDS = 20;
const PUBLISHED_WITHIN_MS = 60_000;

/** A real Prometheus, or several, that has scraped a whole run, the server that it measured, simulated servers and recordings. */
export interface Stack {
  readonly prometheusUrl: string;
  /** Of each Prometheus, in the order of their storages; the first is `prometheusUrl`. */
  readonly prometheusUrls: readonly string[];
  readonly run: FinishedRun;
  /** When the run or the first recording began: on a busy machine a run begins late. */
  readonly startSeconds: number;
  /** The metrics page of the server that the run measured. */
  readonly benchmarkedPage: string;
  /** Since when Prometheus has had the result of the run. */
  readonly publishedSeconds: number;
  /** Names of all samples of the recordings that were scraped under a job. */
  recordedSamples(job: string): ReadonlySet<string>;
  /** Ends the servers that are scraped; what was scraped stays. */
  stopServers(): Promise<void>;
  stop(): Promise<void>;
}

interface Target {
  readonly job: string;
  readonly instance: string;
  readonly address: string;
  readonly path: string;
}

/**
 * Starts everything with the project's own configuration, runs one benchmark while the other simulators are loaded and the
 * recordings are played, and keeps it up.
 */
export async function startStack(programs: PrometheusPrograms, storages = [CLASSIC]): Promise<Stack> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  const keep = <Part extends { stop(): Promise<void> }>(part: Part): Part => {
    started.push(part);
    return part;
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-dashboards-'));
    keep({ stop: () => rm(folder, { recursive: true, force: true }) });
    const runsFolder = join(folder, 'runs');
    const simulators = keep(await startSimulators());
    const benchmarked = simulators.systems.find(({ system }) => system === BENCHMARKED);
    if (benchmarked === undefined) throw new Error(`${BENCHMARKED} is not simulated`);
    await judgeRuns(benchmarked.url, runsFolder);
    const expected = [`${JUDGED_SCENARIO}=24h`, 'never-run=24h'].flatMap((each) => ['--expect-scenario', each]);
    const exporter = keep(await startProgram('serve', '--runs-dir', runsFolder, ...expected));
    const replayer = keep(await startReplayer(BENCHMARK_SECONDS));
    const exporterAddress = new URL((exporter.ready as { readonly url: string }).url).host;
    const targets = [...simulators.systems.flatMap(simulatedTargets), ...recordedTargets(replayer)];
    const prometheusUrls: string[] = [];
    for (const [index, { global, rules, flags }] of storages.entries()) {
      const configFile = join(folder, `prometheus-${index}.yml`);
      const config = renderPrometheusConfig({
        exporterAddress,
        ruleFiles: [rulesIn(rules), rulesIn('prometheus/alerts')],
      }).replace('\nglobal:\n', () => `\nglobal:\n${global.map((line) => `  ${line}\n`).join('')}`);
      await writeFile(configFile, config + targets.map(scrapeConfig).join(''));
      const dataFolder = join(folder, `data-${index}`);
      prometheusUrls.push(keep(await startPrometheus({ programs, configFile, dataFolder, flags })).url);
    }
    const [prometheusUrl = ''] = prometheusUrls;
    const loads = simulators.load();
    const run = await runBenchmark(benchmarked.url, simulators.gpusUrl, runsFolder, BENCHMARK_SECONDS);
    for (const [system, load] of loads) {
      if (load.answered() === 0) throw new Error(`the simulated ${system} answered no request`);
    }
    const since = await Promise.all(prometheusUrls.map((url) => published(url, run.runId)));
    const publishedSeconds = Math.min(...since);
    return {
      prometheusUrl,
      prometheusUrls,
      run,
      startSeconds: Math.min(run.startSeconds, replayer.startSeconds()),
      benchmarkedPage: benchmarked.metrics_urls[0] ?? '',
      publishedSeconds,
      recordedSamples: (job) => replayer.samples(job),
      stopServers: async () => {
        await simulators.stop();
        await replayer.stop();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Waits until Prometheus has all that the exporter shows of the run, and resolves to the time of the first result: either
 * page of results may be scraped first, but only the current one has the state of the run and its objectives.
 */
async function published(prometheusUrl: string, runId: string): Promise<number> {
  const since = await firstValue(prometheusUrl, `min(timestamp(llmbench_result_seconds{run_id="${runId}"}))`);
  await firstValue(prometheusUrl, `llmbench_run_status{run_id="${runId}",status="completed"}`);
  return since;
}

/** Asks until there is a value. */
async function firstValue(prometheusUrl: string, expr: string): Promise<number> {
  const deadline = Date.now() + PUBLISHED_WITHIN_MS;
  while (Date.now() < deadline) {
    const [series] = await instantQuery(prometheusUrl, expr, Date.now() / 1000);
    const [, value] = series?.samples[0] ?? [];
    if (value !== undefined) return Number(value);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`Prometheus has no ${expr} after ${PUBLISHED_WITHIN_MS / 1000} s`);
}

/** The pages of a system; that of the benchmarked one is found through the exporter, as those of users are. */
function simulatedTargets({ system, metrics_urls: pages }: Simulated): Target[] {
  if (system === BENCHMARKED) return [];
  return pages.map((page) => {
    const { host, pathname } = new URL(page);
    return { job: `sim-${system}`, instance: host, address: host, path: pathname };
  });
}

function recordedTargets(replayer: Replayer): Target[] {
  return RECORDINGS.map((recording) => ({
    job: recording.job,
    instance: recording.instance,
    address: replayer.address,
    path: replayer.path(recording),
  }));
}

/** A scrape configuration of its own for each target, because jobs may not be named twice: the label says the job. */
function scrapeConfig({ job, instance, address, path }: Target, index: number): string {
  return `
  - job_name: '${job}-${index}'
    scrape_interval: 1s
    scrape_timeout: 1s
    metrics_path: '${path}'
    static_configs:
      - targets: ['${address}']
        labels: { job: '${job}', instance: '${instance}' }
${RESTORE_NAMES}`;
}
