import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type NativePrometheus, startNativePrometheus } from './native-prometheus.ts';
import { pageOfGpus } from '../../../dashboards/testing/page-of-gpus.ts';
import { freePort, until } from './processes.ts';
import { ended, firstLine, GATE_FAILED, startPrograms } from './programs.ts';
import { serveAndStop, stoppedScrapeConfig } from './stopped-server.ts';

export interface AppData {
  prometheusUrl: string;
  exporterUrl: string;
  /** An exporter of the runs of `store-judged-runs.mts`. */
  judgedExporterUrl: string;
  /** Its token, with which baselines can be changed. */
  judgedToken: string;
  /** Ids of the finished runs, the oldest first. */
  finished: [string, string, ...string[]];
  /** Job and instance of the server of the runs. */
  vllmServer: string;
  /** Job and instance of a server that is no longer scraped. */
  stoppedServer: string;
  /** A Prometheus that scrapes the same and stores only native histograms. */
  native: NativePrometheus;
  stop: () => Promise<void>;
}

const JUDGED_TOKEN = 'token-of-the-browser-tests';

const STORE_JUDGED_RUNS = fileURLToPath(new URL('store-judged-runs.mts', import.meta.url));

/** Finished runs: the concurrency of each and how long it measures. */
export interface WantedRuns {
  concurrencies: [number, number, ...number[]];
  seconds: number;
}

// Prometheus applies newly discovered targets every 5 s, so it misses up to 7 s of a run: the runs last much longer.
const FEW: WantedRuns = { concurrencies: [2, 4], seconds: 20 };

/**
 * The real thing: a simulated vLLM server, `llmbench serve`, a Prometheus that scrapes both, another that stores only
 * native histograms, finished runs and one that lasts until the tests are over.
 */
export async function startAppData(
  [prometheus, prometheus3]: readonly [string, string],
  wanted: WantedRuns = FEW
): Promise<AppData> {
  const programs = startPrograms('app');
  const { folder, llmbench: start, stop } = programs;
  const runs = join(folder, 'runs');
  try {
    const [server, exporterPort, judgedPort] = [
      await firstLine(
        start('simulate', '--system', 'vllm', '--fault', 'reset:rate=0.02,after-tokens=4', '--port', '0', '--json')
      ),
      await freePort(),
      await freePort(),
    ];
    const { url } = JSON.parse(server) as { url: string };
    const { metrics_urls } = JSON.parse(
      await firstLine(start('simulate', '--system', 'dynamo', '--port', '0', '--json'))
    ) as { metrics_urls: string[] };
    const gpus = await pageOfGpus(metrics_urls);
    start('serve', '--runs-dir', runs, '--port', String(exporterPort));
    const exporter = `127.0.0.1:${exporterPort}`;
    const judgedRuns = join(folder, 'judged');
    // Not in this thread, which answers the scrapes of the panel's data meanwhile.
    await ended(spawn(process.execPath, [STORE_JUDGED_RUNS, judgedRuns], { stdio: ['ignore', 'ignore', 'pipe'] }));
    await ended(start('baseline', 'accept', 'tag:before', '--runs-dir', judgedRuns));
    await ended(start('check', 'tag:after', '--runs-dir', judgedRuns), GATE_FAILED);
    const tokenFile = join(folder, 'api-token');
    writeFileSync(tokenFile, JUDGED_TOKEN, { mode: 0o600 });
    start(
      ...['serve', '--runs-dir', judgedRuns, '--port', String(judgedPort)],
      ...['--api-token-file', tokenFile, '--allow-baseline-changes']
    );
    const judged = `127.0.0.1:${judgedPort}`;
    const stoppedTargets = join(folder, 'stopped.json');
    writeFileSync(stoppedTargets, '[]');
    const scraped = scrapeConfig(exporter, new URL(url).host, judged, stoppedTargets);
    const prometheusUrl = await programs.prometheus(prometheus, scraped);
    await until(async () => (await fetch(`http://${exporter}/-/ready`)).ok);
    await until(async () => (await fetch(`http://${judged}/-/ready`)).ok);
    const native = await startNativePrometheus(programs, prometheus3, scraped.scrape_configs);
    const { url: stopped } = JSON.parse(
      await firstLine(start('simulate', '--system', 'vllm', '--port', '0', '--json'))
    ) as { url: string };
    const isStopped = serveAndStop(stoppedTargets, stopped, {
      classic: prometheusUrl,
      native: native.url,
    });
    const run = (scenario: string, concurrency: number, seconds: number, runId: string) =>
      start(
        ...['run', '--url', url, '--model', 'sim-model', '--scenario', scenario, '--runs-dir', runs],
        ...['--concurrency', String(concurrency), '--benchmark-duration', String(seconds)],
        ...['--server-metrics', gpus, '--gpu-hour-price', '2.5EUR'],
        ...['--warmup-request-count', '2', '--isl', '128', '--osl', '16', '--run-id', runId]
      );
    const ids = wanted.concurrencies.map((concurrency) => `chat-${concurrency}-users`);
    for (const [i, concurrency] of wanted.concurrencies.entries()) {
      const once = () => ended(run('chat', concurrency, wanted.seconds, ids[i] ?? ''));
      // One request goes ahead to see whether the server answers, and the simulator's fault may hit it.
      await once().catch(once);
    }
    const finished = ids as AppData['finished'];
    run('soak', 1, 3000, 'soak-live');
    const [exporterUrl, judgedExporterUrl] = [`http://${exporter}`, `http://${judged}`];
    const stoppedServer = await isStopped;
    return {
      ...{ prometheusUrl, exporterUrl, judgedExporterUrl, judgedToken: JUDGED_TOKEN },
      ...{ finished, vllmServer: `vllm/${new URL(url).host}`, stoppedServer, native, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const RULES = fileURLToPath(new URL('../../../prometheus', import.meta.url));

function scrapeConfig(exporter: string, server: string, judged: string, stoppedTargets: string) {
  return {
    global: { scrape_interval: '1s', evaluation_interval: '5s' },
    rule_files: [`${RULES}/rules/*.yml`, `${RULES}/alerts/*.yml`],
    scrape_configs: [
      { job_name: 'llmbench', static_configs: [{ targets: [exporter] }] },
      {
        job_name: 'judged',
        static_configs: [{ targets: [judged] }],
        // Its scenarios have alerts; its runs are not in the lists of the runs that Prometheus has.
        metric_relabel_configs: [{ source_labels: ['__name__'], regex: 'llmbench_scenario_.*', action: 'keep' }],
      },
      { job_name: 'vllm', static_configs: [{ targets: [server] }] },
      stoppedScrapeConfig(stoppedTargets),
      {
        job_name: 'llmbench-discovered',
        http_sd_configs: [{ url: `http://${exporter}/sd`, refresh_interval: '1s' }],
      },
    ],
  };
}
