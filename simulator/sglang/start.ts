import { checkWorkers } from '../faults/plan.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { pagePort } from '../http/site.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { makeEngineServer } from './engine-server.ts';
import { GatewayServer } from './gateway/gateway-server.ts';

/**
 * SGLang: engines on ports of their own, and before them a gateway whose metrics have a port too. A single engine stands
 * alone, on the port that was requested.
 */
export async function startSglang(options: StartOptions): Promise<StartedSystem> {
  const { host, port: wanted, model, parameters, workers, faults } = options;
  checkWorkers(faults, workers);
  const engines = Array.from({ length: workers }, (_, worker) => {
    const own = { ...options, parameters: { ...parameters, seed: parameters.seed + worker } };
    return new RestartingServer(() => makeEngineServer(own), faults.restart?.worker === worker ? faults.restart : null);
  });
  const ports = await Promise.all(engines.map((engine) => engine.listen(workers === 1 ? wanted : 0, host)));
  const pages = ports.map((port) => ({ port, path: '/metrics' }));
  const closeEngines = (): Promise<unknown> => Promise.all(engines.map((engine) => engine.close()));
  const [single, ...more] = pages;
  if (single !== undefined && more.length === 0) {
    return { port: single.port, pages: [single], close: async () => void (await closeEngines()) };
  }
  const workerUrls = ports.map((port) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  const { blockSize, seed } = parameters;
  const gateway = new GatewayServer({ workerUrls, model, blockSize, seed, faults });
  try {
    const metrics = pagePort(29_000, options.defaultPagePorts);
    const port = await gateway.listen(wanted, metrics, host);
    return {
      port,
      pages: [{ port: metrics.port, path: '/metrics' }, ...pages],
      close: async () => {
        await gateway.close();
        await closeEngines();
      },
    };
  } catch (error) {
    await gateway.close();
    await closeEngines();
    throw error;
  }
}
