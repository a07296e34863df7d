import { join } from 'node:path';
import { freePort } from './processes.ts';
import { startRenamedModels } from './renamed-models.ts';
import { ended, firstLine, GATE_FAILED, startPrograms } from './programs.ts';

export interface StagedData {
  prometheusUrl: string;
  exporterUrl: string;
  stop: () => Promise<void>;
}

/** At 4 requests/s the median time to first token is some 50 ms; 96 at a time wait for each other, most for about a second. */
const OBJECTIVE = ['--slo', 'time_to_first_token:p50<500ms'];

/**
 * Runs of a simulated vLLM server whose load has stages, one with a cool-down, one of conversations, one of two models, one
 * that reranks documents, one of a simulated Dynamo, and one of conversations with two models that lasts until the tests
 * are over, in an exporter and a Prometheus of their own: the lists and counts of
 * the other runs stay as they are. Each run has the id of what it shows.
 */
export async function startStagedData(prometheus: string): Promise<StagedData> {
  const { folder, llmbench, prometheus: startPrometheus, stop: stopPrograms } = startPrograms('staged');
  let stopModels = () => {};
  const stop = async () => {
    stopModels();
    await stopPrograms();
  };
  const runs = join(folder, 'runs');
  try {
    const { url } = JSON.parse(await firstLine(llmbench('simulate', '--system', 'vllm', '--port', '0', '--json'))) as {
      url: string;
    };
    const exporter = `127.0.0.1:${await freePort()}`;
    llmbench('serve', '--runs-dir', runs, '--port', new URL(`http://${exporter}`).port);
    const prometheusUrl = await startPrometheus(prometheus, {
      global: { scrape_interval: '1s' },
      scrape_configs: [
        { job_name: 'llmbench', static_configs: [{ targets: [exporter] }] },
        {
          job_name: 'llmbench-discovered',
          http_sd_configs: [{ url: `http://${exporter}/sd`, refresh_interval: '1s' }],
        },
      ],
    });
    const models = await startRenamedModels(url);
    stopModels = models.stop;
    const start = (server: string, runId: string, ...load: string[]) =>
      llmbench('run', '--url', server, '--scenario', runId, '--run-id', runId, '--runs-dir', runs, ...load);
    const runOn = (server: string, runId: string, ...load: string[]) =>
      start(server, runId, '--model', 'sim-model', '--isl', '128', '--osl', '16', ...load);
    const run = (runId: string, ...load: string[]) => runOn(url, runId, ...load);
    // Prometheus applies newly discovered targets every 5 s, so it misses up to 7 s of a run.
    await ended(run('stages-without-objective', '--stages', 'rate=4..8:2s,concurrency=2:2s', '--cool-down'));
    await ended(run('cool-down', '--concurrency', '4', '--request-count', '40', '--cool-down'));
    const turns = ['--session-turns-mean', '3', '--session-turn-delay-mean', '50'];
    await ended(run('conversations', '--concurrency', '3', '--request-count', '24', ...turns));
    const adapters = ['--model', 'base:0.5', '--model', 'billing-lora:0.5', '--isl', '128', '--osl', '16'];
    await ended(start(models.url, 'two-models', ...adapters, '--concurrency', '2', '--request-count', '12'));
    const mixed = ['--model', 'base:0.5', '--model', 'billing-lora:0.5', '--isl', '128', '--osl', '16', ...turns];
    start(models.url, 'conversations-live', ...mixed, '--concurrency', '1', '--benchmark-duration', '3000');
    const ranked = ['--model', 'sim-model', '--endpoint-type', 'rerank', '--batch-size', '4', '--isl', '64'];
    await ended(start(url, 'rerank', ...ranked, '--concurrency', '2', '--benchmark-duration', '10'));
    // Late, when the other data is there and the machine is less busy.
    const stages = 'rate=4:10s,concurrency=96:6s';
    await ended(run('stages-with-objective', '--stages', stages, ...OBJECTIVE), GATE_FAILED);
    const dynamo = JSON.parse(await firstLine(llmbench('simulate', '--system', 'dynamo', '--port', '0', '--json'))) as {
      url: string;
      metrics_urls: string[];
    };
    const pages = dynamo.metrics_urls.flatMap((page) => ['--server-metrics', page]);
    await ended(
      runOn(dynamo.url, 'frontend-and-workers', '--concurrency', '2', '--benchmark-duration', '12', ...pages)
    );
    return { prometheusUrl, exporterUrl: `http://${exporter}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
