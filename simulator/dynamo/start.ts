import { DCGM_CONTENT_TYPE, DcgmMetrics, GpuLoad } from '../dcgm/dcgm-metrics.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { seededRandom } from '../../core/stats/seeded-random.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import type { Listening } from '../faults/restarting-server.ts';
import { makeEmbeddings } from '../http/pooling.ts';
import { sendJson } from '../http/json-body.ts';
import { metricsServer, Site, pagePort } from '../http/site.ts';
import { MonotonicClock } from '../http/engine-driver.ts';
import { makeResponses } from '../http/responses.ts';
import { SimulatorServer } from '../http/server.ts';
import { makeTextCompletions } from '../http/completions.ts';
import { completionResponses } from '../dialects/dialect.ts';
import type { PageAddress, StartOptions, StartedSystem } from '../start.ts';
import { DynamoBackend } from './backend.ts';
import { DynamoProfile } from './profile.ts';
import { drawInstance, type DynamoInstance } from './routed-request.ts';
import { DynamoWorker } from './worker.ts';

/** What differs from the simulator's defaults: LMCache has a part of the host's memory. */
export const DYNAMO_PARAMETERS: Partial<EngineParameters> = {
  offloadTiers: [{ name: 'host', blocks: 49_152, loadMillisecondsPerBlock: 0.05 }],
};

/** It adds nothing of its own to a choice. */
const COMPLETIONS = completionResponses([], []);

/** As Dynamo's examples set `DYN_SYSTEM_PORT`: workers count up from here. */
const WORKER_PORT = 8081;
/** Of the DCGM exporter in Dynamo's observability stack. */
const STACK_DCGM_PORT = 9401;
const WORKER_CONTENT_TYPE = 'text/plain; charset=utf-8';

/**
 * Dynamo: a frontend with the OpenAI API and its page on one port, each worker's page on a port of its own, and the
 * GPUs, one per worker, on that of a DCGM exporter.
 *
 * @throws RangeError without a worker, or when a fault names one that there is not
 */
export async function startDynamo({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const { model, parameters, faults, workers } = options;
  if (!(Number.isSafeInteger(workers) && workers >= 1)) throw new RangeError('workers must be 1 or more');
  for (const named of [faults.restart?.worker, faults.hotWorker?.worker]) {
    if (named !== undefined && named >= workers) throw new RangeError(`there is no worker ${named}: they count from 0`);
  }
  const random = seededRandom(parameters.seed ^ 0xd1);
  const clock = new MonotonicClock();
  const profile = new DynamoProfile(drawInstance(random), model, parameters);
  const backend = new DynamoBackend({ profile, parameters, clock, hotWorker: faults.hotWorker });
  const frontend = new SimulatorServer({
    ...{ ...options, profile, clock, makeBackend: () => backend },
    makeRoutes: ({ api, responding }) => ({
      'GET /openapi.json': (_request, response) => sendJson(response, 200, frontendDescription()),
      'GET /health': (_request, response) => sendJson(response, 200, frontendHealth(backend.instances())),
      'POST /v1/completions': responding('/v1/completions', makeTextCompletions(api, COMPLETIONS)),
      'POST /v1/responses': responding('/v1/responses', makeResponses(api)),
      'POST /v1/embeddings': responding('/v1/embeddings', makeEmbeddings(api)),
    }),
  });
  const gpus = Array.from({ length: workers }, () => new GpuLoad(parameters));
  const makeWorker = (index: number, gpu: GpuLoad): Listening => {
    const instance = drawInstance(random);
    const observe: DynamoBackend['observe'] = (events) => backend.observe(events);
    const worker = new DynamoWorker({ instance, model, parameters, clock, gpu, observe });
    backend.attach(index, worker);
    return new Site(
      metricsServer(WORKER_CONTENT_TYPE, () => worker.page()),
      [],
      () => {
        backend.detach(index);
        worker.driver.close();
      },
    );
  };
  const side = gpus.map((gpu, index) => {
    const restart = faults.restart?.worker === index ? faults.restart : null;
    return {
      server: new RestartingServer(() => makeWorker(index, gpu), restart),
      address: pagePort(WORKER_PORT + index, options.defaultPagePorts),
    };
  });
  const gpuPage = new DcgmMetrics(gpus);
  const gpuServer = metricsServer(DCGM_CONTENT_TYPE, () => gpuPage.page(clock.now_ns()));
  const dcgm = { server: gpuServer, address: pagePort(STACK_DCGM_PORT, options.defaultPagePorts) };
  const site = new Site(frontend, [...side, dcgm], () => undefined);
  const port = await site.listen(wanted, host);
  const pages = [...side, dcgm].map(({ address }): PageAddress => ({ port: address.port, path: '/metrics' }));
  return { port, pages: [{ port, path: '/metrics' }, ...pages], close: () => site.close() };
}

/** Of the release whose families these are. */
const VERSION = '1.6.1';
const ENDPOINT = { namespace: 'dynamo', component: 'backend', endpoint: 'generate' };

/** The head of what the frontend answers to `GET /openapi.json`. */
function frontendDescription(): string {
  const info = { title: 'NVIDIA Dynamo OpenAI Frontend', version: VERSION };
  return JSON.stringify({ openapi: '3.1.0', info, paths: {} });
}

/** `GET /health`: the instances in its discovery. */
function frontendHealth(instances: readonly DynamoInstance[]): string {
  return JSON.stringify({
    status: 'healthy',
    endpoints: [`dyn://${Object.values(ENDPOINT).join('.')}`],
    instances: instances.map(({ hex }) => ({ ...ENDPOINT, instance_id: `0x${hex}`, transport: { tcp: '' } })),
  });
}
