import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { sweepFigures } from '../../../core/sweeps/sweep-figures.ts';
import { counted, quantity } from '../../../core/text/quantities.ts';

/** A run of a group in one line: the table of the group follows at its end, `runs show RUN` has the rest. */
export function memberLine(result: ResultFile): string {
  const { run_id, status, requests, slos, client } = result;
  const { output_token_throughput: tokens, time_to_first_token_p99: firstToken } = sweepFigures(result);
  const missed = slos.filter(({ verdict }) => verdict === 'not_met').length;
  const facts = [
    `${counted(requests.ok)} ok`,
    `${counted(countOf(requests, FAILED_OUTCOMES))} failed`,
    quantity(tokens?.value, 'tokens_per_second'),
    `TTFT p99 ${quantity(firstToken?.value, 'seconds')}`,
    ...(missed > 0 ? [`${missed} of ${slos.length} SLOs NOT MET`] : []),
    ...(client.verdict === 'saturated' ? ['client saturated'] : []),
  ];
  return `run         ${run_id}  ${status}\n            ${facts.join(' · ')}`;
}
