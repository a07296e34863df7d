import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPrometheusConfig, RESTORE_NAMES } from '../../prometheus/config.ts';
import { startPrometheus } from '../../prometheus/server.ts';
import type { PrometheusPrograms } from '../../prometheus/programs.mjs';
import { runBenchmark, type FinishedRun } from './benchmark.ts';
import { startProgram } from './programs.ts';
import { RECORDINGS, startReplayer, type Replayer } from './replayer.ts';
import { BENCHMARKED, startSimulators, type Simulated } from './simulators.ts';

const RULE_FILES = ['rules', 'alerts'].map((folder) =>
  fileURLToPath(new URL(`../../prometheus/${folder}/*.yml`, import.meta.url)),
);
const BENCHMARK_SECONDS = 15;

/** A real Prometheus that has scraped a whole run, the server that it measured, simulated servers and recordings. */
export interface Stack {
  readonly prometheusUrl: string;
  readonly run: FinishedRun;
  /** Names of all samples of the recordings that were scraped under a job. */
  recordedSamples(job: string): ReadonlySet<string>;
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
export async function startStack(programs: PrometheusPrograms): Promise<Stack> {
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
    const exporter = keep(await startProgram('serve', '--runs-dir', runsFolder));
    const simulators = keep(await startSimulators());
    const replayer = keep(await startReplayer(BENCHMARK_SECONDS));
    const exporterAddress = new URL((exporter.ready as { readonly url: string }).url).host;
    const benchmarked = simulators.systems.find(({ system }) => system === BENCHMARKED);
    if (benchmarked === undefined) throw new Error(`${BENCHMARKED} is not simulated`);
    const targets = [...simulators.systems.flatMap(simulatedTargets), ...recordedTargets(replayer)];
    const configFile = join(folder, 'prometheus.yml');
    const config = renderPrometheusConfig({ exporterAddress, ruleFiles: RULE_FILES });
    await writeFile(configFile, config + targets.map(scrapeConfig).join(''));
    const prometheus = keep(await startPrometheus({ programs, configFile, dataFolder: join(folder, 'data') }));
    const run = await runBenchmark(benchmarked.url, runsFolder, BENCHMARK_SECONDS);
    for (const [system, load] of simulators.loads) {
      if (load.answered() === 0) throw new Error(`the simulated ${system} answered no request`);
    }
    return { prometheusUrl: prometheus.url, run, recordedSamples: (job) => replayer.samples(job), stop };
  } catch (error) {
    await stop();
    throw error;
  }
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
