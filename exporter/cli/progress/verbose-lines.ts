import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { quantity, things } from '../../../core/text/quantities.ts';

/** Requests of a run that are described one by one; the others are counted. */
const MAX_REQUESTS = 100;
/** Failed requests are described beyond that. */
const MAX_FAILED = 100;
const NS = 1e9;

/** A line that is printed only with `--verbose`. */
export const verboseLine = (text: string): string => `verbose: ${text}`;

/** What happens in a run, a line each, for `--verbose`: phases, stages, and the requests with their connections. */
export class VerboseLines implements RunEvents {
  readonly #say: (line: string) => void;
  #requests = 0;
  #failed = 0;
  #notShown = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    this.#at(at_ns, `${phase} begins`);
  }

  phaseEnded(phase: PhaseName, at_ns: number): void {
    const notShown = this.#notShown === 0 ? '' : `; ${things(this.#notShown, 'further requests')} not shown`;
    this.#notShown = 0;
    this.#at(at_ns, `${phase} ends${notShown}`);
  }

  stageStarted(stage: number, at_ns: number): void {
    this.#at(at_ns, `stage ${stage} begins`);
  }

  stageEnded(stage: number, at_ns: number): void {
    this.#at(at_ns, `stage ${stage} ends`);
  }

  clientSaturated(saturated: boolean): void {
    this.#say(verboseLine(`the client is ${saturated ? 'saturated' : 'no longer saturated'}`));
  }

  requestEnded(record: RequestRecord): void {
    const isShown = record.outcome === 'ok' ? this.#requests < MAX_REQUESTS : this.#failed < MAX_FAILED;
    if (record.outcome === 'ok') this.#requests++;
    else this.#failed++;
    if (isShown) this.#at(record.end_ns, requestLine(record));
    else this.#notShown++;
  }

  #at(at_ns: number, text: string): void {
    this.#say(verboseLine(`+${(at_ns / NS).toFixed(3)} s ${text}`));
  }
}

function requestLine(record: RequestRecord): string {
  const { index, phase, outcome, reason, http_status: status, sent_ns: sent, end_ns: end } = record;
  const since = (at_ns: number): string => quantity((at_ns - sent) / NS, 'seconds');
  const { first_content_ns: first, output_tokens: tokens } = record;
  return [
    `request ${index} (${phase}): ${outcome}${reason === null ? '' : ` (${reason})`}`,
    ...(status === null ? [] : [`HTTP ${status}`]),
    ...connectionTexts(record),
    ...(first === null ? [] : [`first content after ${since(first)}`]),
    ...(tokens === null ? [] : [things(tokens, 'output tokens')]),
    `ended after ${since(end)}`,
  ].join(', ');
}

function connectionTexts({
  connection_reused: reused,
  connect_ns,
  connection_retried: retried,
}: RequestRecord): string[] {
  const opened = connect_ns === null ? '' : `, opened in ${quantity(connect_ns / NS, 'seconds')}`;
  return [
    ...(reused === null ? [] : [reused ? 'open connection' : `new connection${opened}`]),
    ...(retried === true ? ['sent again on a new connection'] : []),
  ];
}
