import type { ErrorReason, Outcome, PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { allFindings } from '../responses/response-findings.ts';
import type { PhaseResult } from '../phases/phase-result.ts';

/** Counts the workers' events of a phase: so nothing is missing from a worker that did not finish. */
export class PhaseTally implements RunEvents {
  readonly #phase: PhaseName;
  readonly #requests: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  #sent = 0;
  #start_ns = Infinity;
  #end_ns = -Infinity;

  constructor(phase: PhaseName) {
    this.#phase = phase;
  }

  requestSent(phase: PhaseName, _due_ns: number, sent_ns: number): void {
    if (phase !== this.#phase) return;
    this.#sent++;
    this.#start_ns = Math.min(this.#start_ns, sent_ns);
  }

  requestEnded({ phase, outcome, reason, end_ns }: RequestRecord): void {
    if (phase !== this.#phase) return;
    this.#requests[outcome]++;
    if (reason !== null) this.#errors[reason] = (this.#errors[reason] ?? 0) + 1;
    this.#end_ns = Math.max(this.#end_ns, end_ns);
  }

  /** When the first request was sent; null before. */
  get start_ns(): number | null {
    return this.#sent === 0 ? null : this.#start_ns;
  }

  /** `results`: of the workers that finished; `broken`: what happened to the others, null for none. */
  result(results: readonly PhaseResult[], broken: string | null): PhaseResult {
    const first = <T>(value: (result: PhaseResult) => T | null): T | null =>
      results.map(value).find((each) => each !== null) ?? null;
    const total = (value: (result: PhaseResult) => number): number =>
      results.reduce((sum, result) => sum + value(result), 0);
    const ended = Object.values(this.#requests).reduce((sum, count) => sum + count, 0);
    const lost = this.#sent - ended;
    return {
      phase: this.#phase,
      start_ns: this.start_ns,
      end_ns: ended === 0 ? null : this.#end_ns,
      requests: this.#requests,
      sent: this.#sent,
      positions: results.reduce((most, { positions }) => Math.max(most, positions), 0),
      unsent: total(({ unsent }) => unsent),
      errors: this.#errors,
      messages: Object.assign({}, ...results.map(({ messages }) => messages).reverse()) as PhaseResult['messages'],
      connectionRetries: total(({ connectionRetries }) => connectionRetries),
      findings: allFindings(results),
      tooManyErrors: first(({ tooManyErrors }) => tooManyErrors),
      overBudget: first(({ overBudget }) => overBudget),
      broken: broken === null || lost === 0 ? broken : `${broken}; ${lost} requests in flight were lost`,
    };
  }
}
