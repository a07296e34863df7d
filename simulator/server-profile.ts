import type { EngineState, EngineEvent } from './engine/events.ts';
import type { ResponseDialect } from './http/reply.ts';

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
