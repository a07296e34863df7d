import type { EngineParameters } from '../engine/parameters.ts';
import { checkWorkers } from '../faults/check-workers.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { SimulatorServer } from '../http/server.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { VllmFace } from './face.ts';

/** What differs from the simulator's defaults when all switches are on: CPU memory below the device, and a drafter. */
export const VLLM_PARAMETERS: Partial<EngineParameters> = {
  offloadTiers: [{ name: 'host', blocks: 24_576, loadMillisecondsPerBlock: 0.1 }],
  speculation: { draftTokens: 3, acceptanceRatio: 0.3 },
};

/** vLLM: everything on one port. */
export async function startVllm({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const { model, parameters, faults, switches = true } = options;
  checkWorkers(faults, 1);
  const make = () =>
    new SimulatorServer({
      ...options,
      face: new VllmFace({ modelName: model, parameters, switches }),
      // vLLM has it with VLLM_SERVER_DEV_MODE=1, and answers 200 also when blocks were in use.
      makeRoutes: ({ backend, counted }) => ({
        'POST /reset_prefix_cache': counted('/reset_prefix_cache', (response) => {
          backend.resetPrefixCache?.();
          response.writeHead(200, { 'content-length': 0 }).end();
        }),
      }),
    });
  const server = new RestartingServer(make, faults.restart);
  const port = await server.listen(wanted, host);
  return { port, pages: [{ port, path: '/metrics' }], close: () => server.close() };
}
