import { checkWorkers } from '../faults/check-workers.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { SimulatorServer } from '../http/server.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { VllmFace } from './face.ts';

/** vLLM: everything on one port. */
export async function startVllm({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const { model, parameters, faults } = options;
  checkWorkers(faults, 1);
  const make = () => new SimulatorServer({ ...options, face: new VllmFace(model, parameters) });
  const server = new RestartingServer(make, faults.restart);
  const port = await server.listen(wanted, host);
  return { port, pages: [{ port, path: '/metrics' }], close: () => server.close() };
}
