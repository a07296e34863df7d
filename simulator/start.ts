import type { EngineState, EngineEvent } from './engine/events.ts';
import type { EngineParameters } from './engine/parameters.ts';
import type { FaultPlan } from './faults/plan.ts';
import type { ResponseDialect } from './http/reply.ts';
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

/** A request that was answered, or whose client has gone. */
export interface RespondedRequest {
  /** Route, not path: `/v1/chat/completions`, or `none` where there is no such route. */
  readonly handler: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** Of the content-length header; 0 when there was none. */
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** What one inference server shows of the engine behind it: the engine knows no profile, the HTTP server knows only this. */
export interface ServerProfile {
  /** `owned_by` of the model in `/v1/models`. */
  readonly ownedBy: string;
  readonly metricsContentType: string;
  /** How it words its responses. */
  readonly responses: ResponseDialect;
  /** Takes up what the engine did, in its order. */
  observe(events: readonly EngineEvent[]): void;
  responded(request: RespondedRequest): void;
  metricsPage(state: EngineState): string;
}
