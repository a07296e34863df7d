import { pageOfGpus } from './page-of-gpus.ts';
import { startProgram } from './programs.ts';
import { startSteadyLoad, type SteadyLoad } from './steady-load.ts';

/** What `llmbench simulate --system all` says of each system when it is ready. */
export interface Simulated {
  readonly system: string;
  readonly url: string;
  readonly metrics_urls: readonly string[];
}

/** All simulated systems in one process. */
export interface Simulators {
  readonly systems: readonly Simulated[];
  /** Keeps some requests in flight at each but vLLM, which the benchmark runs against. */
  load(): ReadonlyMap<string, SteadyLoad>;
  /** A page of simulated GPUs. */
  readonly gpusUrl: string;
  stop(): Promise<void>;
}

export const BENCHMARKED = 'vllm';

/** KV caches as small as can be, so that prefixes are evicted and loaded back while Prometheus looks. */
const SMALL_KV_CACHES = ['--fault', 'kv-pressure:ratio=0.001'];

export async function startSimulators(): Promise<Simulators> {
  const program = await startProgram('simulate', '--system', 'all', ...SMALL_KV_CACHES);
  const systems = program.ready as readonly Simulated[];
  const loaded = systems.filter(({ system }) => system !== BENCHMARKED);
  let loads: ReadonlyMap<string, SteadyLoad> = new Map();
  const load = (): typeof loads => {
    const apiOf = (system: string) => (system === 'triton' ? 'triton' : 'openai');
    loads = new Map(loaded.map(({ system, url }) => [system, startSteadyLoad(new URL(url), apiOf(system))]));
    return loads;
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...loads.values()].map((each) => each.stop()));
    await program.stop();
  };
  return { systems, load, gpusUrl: await pageOfGpus(systems.flatMap(({ metrics_urls: urls }) => urls)), stop };
}
