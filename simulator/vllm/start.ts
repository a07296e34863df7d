import { SimulatorServer } from '../http/server.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { VllmFace } from './face.ts';

/** vLLM: everything on one port. */
export async function startVllm({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const server = new SimulatorServer({ ...options, face: new VllmFace(options.model, options.parameters) });
  const port = await server.listen(wanted, host);
  return { port, pages: [{ port, path: '/metrics' }], close: () => server.close() };
}
