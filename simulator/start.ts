import type { EngineParameters } from './engine/parameters.ts';
import type { FaultPlan } from './faults/plan.ts';
import type { TruthLimits } from './http/truth-log.ts';

/** What a system is started with. */
export interface StartOptions {
  readonly host: string;
  /** Of the API; 0: a free one. */
  readonly port: number;
  readonly model: string;
  readonly parameters: EngineParameters;
  /** Whether pages on ports of their own take the ports that the system uses by default, where these are free; else free ones. */
  readonly defaultPagePorts?: boolean;
  /** Engines, where the system can have several. */
  readonly workers: number;
  /** Those of the engine are in `parameters` already. */
  readonly faults: FaultPlan;
  readonly truthLimits?: TruthLimits;
  /** Whether vLLM has the switches on that show further families. Default true. */
  readonly switches?: boolean;
}

/** Where a metrics page is. */
export interface PageAddress {
  readonly port: number;
  readonly path: string;
}

/** A system that serves. */
export interface StartedSystem {
  /** Of the API, which has `/truth` as well. */
  readonly port: number;
  /** The system's main page first. */
  readonly pages: readonly [PageAddress, ...PageAddress[]];
  /** Ends all connections; the ports are free afterwards. */
  close(): Promise<void>;
}

/** Starts one simulated system. */
export type StartSystem = (options: StartOptions) => Promise<StartedSystem>;
