import { serveDialect } from './dialects/start.ts';
import { DIALECTS } from './dialects/table.ts';
import type { DialectName } from './dialects/table.ts';
import { DYNAMO_PARAMETERS, startDynamo } from './dynamo/start.ts';
import { DEFAULT_ENGINE_PARAMETERS } from './engine/parameters.ts';
import type { EngineParameters } from './engine/parameters.ts';
import { withEngineFaults, NO_FAULTS, type FaultPlan } from './faults/plan.ts';
import { KVBM_PARAMETERS, startKvbm } from './kvbm/start.ts';
import type { TruthLimits } from './http/truth-log.ts';
import { SGLANG_PARAMETERS, startSglang } from './sglang/start.ts';
import type { PageAddress, StartSystem } from './start.ts';
import { startTriton } from './triton/start.ts';
import { TRTLLM_PARAMETERS, startTrtllm } from './trtllm/start.ts';
import { VLLM_PARAMETERS, startVllm } from './vllm/start.ts';

const SYSTEMS = {
  vllm: startVllm,
  sglang: startSglang,
  trtllm: startTrtllm,
  triton: startTriton,
  dynamo: startDynamo,
  kvbm: startKvbm,
} as const satisfies Record<string, StartSystem>;

/** Where a system differs from `DEFAULT_ENGINE_PARAMETERS` by default. */
const SYSTEM_PARAMETERS: Partial<Record<SimulatedSystem, Partial<EngineParameters>>> = {
  vllm: VLLM_PARAMETERS,
  sglang: SGLANG_PARAMETERS,
  trtllm: TRTLLM_PARAMETERS,
  dynamo: DYNAMO_PARAMETERS,
  kvbm: KVBM_PARAMETERS,
};

export type SimulatedSystem = keyof typeof SYSTEMS;
/** The systems that can be simulated. */
export const SIMULATED_SYSTEMS = Object.keys(SYSTEMS) as readonly SimulatedSystem[];

export interface SimulatorOptions {
  readonly system: SimulatedSystem;
  /** Default 0: a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Name of the served model. Default `sim-model`. */
  readonly model?: string;
  /** Default 1. */
  readonly seed?: number;
  /** Engines, where the system can have several. Default 2. */
  readonly workers?: number;
  /** What differs from `DEFAULT_ENGINE_PARAMETERS`. */
  readonly engine?: Partial<Omit<EngineParameters, 'seed'>>;
  /** How much `/truth` keeps. Default 100,000 requests and 8 million tokens. */
  readonly truthLimits?: TruthLimits;
  /**
   * Whether pages on ports of their own take the ports that the system uses by default, where these are free, such as 8002
   * of Triton. Default false: free ones.
   */
  readonly defaultPagePorts?: boolean;
  /** What goes wrong, as `parseFaults` reads it. Default: nothing. */
  readonly faults?: FaultPlan;
  /**
   * Whether vLLM has the switches on that show further families, with speculative decoding and CPU memory below the
   * device; without, it is as it comes. Default true.
   */
  readonly switches?: boolean;
}

/** A simulator that serves. */
export interface RunningSimulator {
  /** Base URL of the API, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** The system's main page. */
  readonly metricsUrl: string;
  /** All its pages, the main one first. */
  readonly metricsUrls: readonly string[];
  readonly truthUrl: string;
  /** Ends all connections; the ports are free afterwards. */
  close(): Promise<void>;
}

/**
 * Starts a simulated inference server.
 *
 * @throws RangeError when an engine parameter is out of range
 * @throws Error with code EADDRINUSE (or as node:net gives it) when it cannot listen there
 */
export async function startSimulator(options: SimulatorOptions): Promise<RunningSimulator> {
  const { system, port = 0, host = '127.0.0.1', model = 'sim-model', seed = 1, workers = 2, truthLimits } = options;
  const { faults = NO_FAULTS, switches = true, defaultPagePorts = false } = options;
  const ofSystem = system === 'vllm' && !switches ? {} : SYSTEM_PARAMETERS[system];
  const own = { ...DEFAULT_ENGINE_PARAMETERS, ...ofSystem, ...options.engine, seed };
  const parameters = withEngineFaults(own, faults);
  const start = {
    host,
    port,
    model,
    parameters,
    workers,
    faults,
    switches,
    defaultPagePorts,
    ...(truthLimits && { truthLimits }),
  };
  const started = await SYSTEMS[system](start);
  const urlOf = (page: PageAddress): string => `${originOf(host, page.port)}${page.path}`;
  return {
    url: originOf(host, started.port),
    port: started.port,
    metricsUrl: urlOf(started.pages[0]),
    metricsUrls: started.pages.map(urlOf),
    truthUrl: `${originOf(host, started.port)}/truth`,
    close: () => started.close(),
  };
}

/** What a dialect is started with. */
export type DialectOptions = Pick<SimulatorOptions, 'port' | 'host' | 'model' | 'seed' | 'engine' | 'faults'>;

/**
 * Starts a server that gives chat completions as one server or service does, without metrics.
 *
 * @throws as `startSimulator`
 */
export async function startDialect(
  name: DialectName,
  options: DialectOptions = {},
): Promise<Pick<RunningSimulator, 'url' | 'port' | 'truthUrl' | 'close'>> {
  const { port = 0, host = '127.0.0.1', model = 'sim-model', seed = 1, faults = NO_FAULTS } = options;
  const parameters = withEngineFaults({ ...DEFAULT_ENGINE_PARAMETERS, ...options.engine, seed }, faults);
  const started = await serveDialect(DIALECTS[name], { host, port, model, parameters, faults });
  const url = originOf(host, started.port);
  return { url, port: started.port, truthUrl: `${url}/truth`, close: () => started.close() };
}

const originOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
