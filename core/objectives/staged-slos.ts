import type { Slo, SloResult } from '../run/objectives.ts';
import type { StageResult } from '../run/result.ts';
import { WORST_FIRST } from './worst-verdict.ts';

/**
 * A limit over the stages of a run, of which each has its own verdict: the worst one, because figures of requests at
 * different loads have no common distribution.
 */
export function worstOfStages(stages: readonly Pick<StageResult, 'slos'>[], slo: Slo, at: number): SloResult {
  const verdicts = stages.map(({ slos }) => slos[at]);
  for (const verdict of WORST_FIRST) {
    const stage = verdicts.findIndex((each) => each?.verdict === verdict);
    const found = verdicts[stage];
    if (found === undefined) continue;
    const where = verdict === 'met' ? 'in every stage; shown: stage 1' : `stage ${stage + 1} of ${stages.length}`;
    return { ...found, why: found.why === null ? where : `${where}: ${found.why}` };
  }
  return { ...slo, value: null, interval: null, verdict: 'undecided', why: 'the run has no stage' };
}
