import type { EngineParameters } from '../engine/parameters.ts';
import { checkWorkers } from '../faults/plan.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { sendJson } from '../http/json-body.ts';
import { metricsServer, listenAt, pagePort, sendNegotiatedPage } from '../http/site.ts';
import { makeResponses } from '../http/responses.ts';
import { SimulatorServer } from '../http/server.ts';
import { makeTextCompletions } from '../http/completions.ts';
import { completionResponses } from '../dialects/dialect.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { TrtllmProfile } from './profile.ts';

/** Of the release whose families these are. */
const VERSION = JSON.stringify({ version: '1.2.0' });

const PROMETHEUS_PATH = '/prometheus/metrics';
/** As Dynamo's examples set `DYN_SYSTEM_PORT`. */
const WORKER_PORT = 8081;

/** What differs from the simulator's defaults: larger blocks, tiers below the device, and a draft model. */
export const TRTLLM_PARAMETERS: Partial<EngineParameters> = {
  blockSize: 32,
  numKvBlocks: 6144,
  offloadTiers: [
    { name: 'host', blocks: 12_288, loadMillisecondsPerBlock: 0.2 },
    { name: 'disk', blocks: 49_152, loadMillisecondsPerBlock: 2 },
  ],
  speculation: { draftTokens: 3, acceptanceRatio: 0.65 },
};

/**
 * trtllm-serve: API, Prometheus page and the JSON rows of `/metrics` on one port; on a second one the families that
 * Dynamo's worker around the same engine would add.
 */
export async function startTrtllm({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const { model, parameters, faults } = options;
  checkWorkers(faults, 1);
  let profile = new TrtllmProfile(model, parameters);
  const make = (): SimulatorServer => {
    profile = new TrtllmProfile(model, parameters);
    return makeServer(options, profile);
  };
  const server = new RestartingServer(make, faults.restart);
  const port = await server.listen(wanted, host);
  const worker = metricsServer(profile.metricsContentType, () => profile.workerPage());
  const address = pagePort(WORKER_PORT, options.defaultPagePorts);
  await listenAt(worker, address, host);
  return {
    port,
    pages: [
      { port, path: PROMETHEUS_PATH },
      { port: address.port, path: '/metrics' },
    ],
    async close() {
      await Promise.all([server.close(), worker.close()]);
    },
  };
}

const CHOICE_FIELDS = ['stop_reason', 'disaggregated_params'];
const COMPLETIONS = completionResponses(
  ['token_ids', ...CHOICE_FIELDS],
  ['token_ids', 'context_logits', ...CHOICE_FIELDS],
);

function makeServer(options: Omit<StartOptions, 'host' | 'port'>, profile: TrtllmProfile): SimulatorServer {
  return new SimulatorServer({
    ...options,
    profile,
    makeRoutes: ({ api, backend, responding }) => ({
      'POST /v1/completions': responding('/v1/completions', makeTextCompletions(api, COMPLETIONS)),
      'POST /v1/responses': responding('/v1/responses', makeResponses(api)),
      'GET /version': (_request, response) => sendJson(response, 200, VERSION),
      // The engine is queried first, so that the rows are those of this moment.
      'GET /metrics': (_request, response) => {
        backend.state();
        sendJson(response, 200, profile.drainIterations());
      },
      [`GET ${PROMETHEUS_PATH}`]: (request, response) =>
        sendNegotiatedPage(request, response, profile.metricsPage(backend.state())),
    }),
  });
}
