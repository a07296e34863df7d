import { DCGM_CONTENT_TYPE, DCGM_PORT, DcgmMetrics, GpuLoad } from '../dcgm/dcgm-metrics.ts';
import { Engine } from '../engine/engine.ts';
import type { EngineParameters } from '../engine/parameters.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import type { Listening } from '../faults/restarting-server.ts';
import { EngineDriver, MonotonicClock } from '../http/engine-driver.ts';
import { metricsServer, Site, pagePort, type PagePort } from '../http/site.ts';
import { SimulatorServer } from '../http/server.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { VllmProfile } from '../vllm/profile.ts';
import { KvbmMetrics } from './kvbm-metrics.ts';

/** What differs from the simulator's defaults: tiers, and a device that is too small for long. */
export const KVBM_PARAMETERS: Partial<EngineParameters> = {
  numKvBlocks: 4096,
  offloadTiers: [
    { name: 'host', blocks: 16_384, loadMillisecondsPerBlock: 0.05 },
    { name: 'disk', blocks: 131_072, loadMillisecondsPerBlock: 0.8 },
  ],
};

const KVBM_CONTENT_TYPE = 'text/plain; charset=utf-8';

/** vLLM with the KVBM connector: vLLM's API and page on one port, KVBM's page on another, the GPU's on a third. */
export async function startKvbm({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const kvbmAddress = pagePort(6880, options.defaultPagePorts);
  const gpuAddress = pagePort(DCGM_PORT, options.defaultPagePorts);
  const server = new RestartingServer(() => makeSite(options, kvbmAddress, gpuAddress), options.faults.restart);
  const port = await server.listen(wanted, host);
  const pageAt = (at: { readonly port: number }) => ({ port: at.port, path: '/metrics' });
  return { port, pages: [pageAt(kvbmAddress), pageAt({ port }), pageAt(gpuAddress)], close: () => server.close() };
}

function makeSite(
  options: Omit<StartOptions, 'host' | 'port'>,
  kvbmAddress: PagePort,
  gpuAddress: PagePort,
): Listening {
  const { model, parameters } = options;
  const clock = new MonotonicClock();
  const engine = new Engine(parameters);
  const profile = new VllmProfile({ modelName: model, parameters, switches: false });
  const kvbm = new KvbmMetrics(parameters, () => engine.kvBlockTotals);
  const gpu = new GpuLoad(parameters);
  const driver = new EngineDriver(engine, clock, (events) => {
    for (const observer of [profile, kvbm, gpu]) observer.observe(events);
  });
  const gpuPage = new DcgmMetrics([gpu]);
  const main = new SimulatorServer({ ...options, profile, clock, makeBackend: () => driver });
  const pages = [
    { server: metricsServer(KVBM_CONTENT_TYPE, () => kvbm.page(driver.state())), address: kvbmAddress },
    { server: metricsServer(DCGM_CONTENT_TYPE, () => gpuPage.page(clock.now_ns())), address: gpuAddress },
  ];
  return new Site(main, pages, () => undefined);
}
