import type { PhaseName } from '../../core/run/record.ts';
import type { GenerationRequest } from './endpoints/endpoint.ts';

/** Where the requests of a run come from: any of them can be made at any time, and is always the same. */
export interface Dataset {
  /** The request at a position of a phase, from 0; `probe` is the one before the run. */
  request(phase: PhaseName | 'probe', position: number): GenerationRequest;
  /** SHA-256 (hex) of everything that decides the requests. */
  readonly planSha256: string;
}
