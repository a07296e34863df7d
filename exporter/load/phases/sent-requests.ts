import type { ErrorReason, Outcome, PhaseName } from '../../../core/run/record.ts';
import type { ClosedRequest } from '../responses/response-reader.ts';
import { FindingsTally } from '../responses/response-findings.ts';
import type { PhaseResult } from '../load-generator.ts';

type CountedElsewhere = 'positions' | 'unsent' | 'broken';

/** Counts the requests of a phase as this thread sends them. */
export class SentRequests {
  readonly #phase: PhaseName;
  readonly #requests: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  readonly #messages: Partial<Record<ErrorReason, string>> = {};
  #start_ns: number | null = null;
  #end_ns: number | null = null;
  #sent = 0;
  #ended = 0;
  #connectionRetries = 0;
  readonly found = new FindingsTally();
  tooManyErrors: string | null = null;
  overBudget: string | null = null;

  constructor(phase: PhaseName) {
    this.#phase = phase;
  }

  get phase(): PhaseName {
    return this.#phase;
  }

  get inFlight(): number {
    return this.#sent - this.#ended;
  }

  /** When the first request was sent; null before. */
  get start_ns(): number | null {
    return this.#start_ns;
  }

  requestSent(now_ns: number): void {
    this.#start_ns ??= now_ns;
    this.#sent++;
  }

  requestEnded({ record: { outcome, reason, end_ns }, message, connectionRetried, findings }: ClosedRequest): void {
    this.#ended++;
    this.#requests[outcome]++;
    this.#end_ns = Math.max(this.#end_ns ?? 0, end_ns);
    this.found.addAll(findings);
    if (connectionRetried) this.#connectionRetries++;
    if (reason === null) return;
    this.#errors[reason] = (this.#errors[reason] ?? 0) + 1;
    if (message !== null) this.#messages[reason] ??= message;
  }

  result(): Omit<PhaseResult, CountedElsewhere> {
    return {
      phase: this.#phase,
      start_ns: this.#start_ns,
      end_ns: this.#end_ns,
      requests: this.#requests,
      sent: this.#sent,
      errors: this.#errors,
      messages: this.#messages,
      connectionRetries: this.#connectionRetries,
      findings: this.found.findings,
      tooManyErrors: this.tooManyErrors,
      overBudget: this.overBudget,
    };
  }
}
