import { ABSENT } from '../../../../core/text/quantities.ts';
import { comparableFacts } from '../../../../core/run/provenance.ts';
import { flattened } from '../../components/flattened.ts';
import type { RunAnswer } from '../../exporter-api/types.ts';

/** Something in which runs differ, with the text of each run. */
export interface Difference {
  name: string;
  texts: string[];
}

/** Settings, target, system and tool in which the runs differ. */
export function configurationDifferences(runs: readonly RunAnswer[]): Difference[] {
  const facts = runs.map(({ run, summary }) => {
    const { system, system_version, tool, tool_version } = summary;
    return new Map([
      ...flattened(run.comparison_key),
      ...flattened(run.dataset, 'dataset'),
      ...comparableFacts(run.provenance ?? null),
      ['target', run.target.origin ?? ABSENT] as const,
      ['system', [system, system_version].filter(Boolean).join(' ') || ABSENT] as const,
      ['tool', [tool, tool_version].filter(Boolean).join(' ')] as const,
    ]);
  });
  const names = [...new Set(facts.flatMap((one) => [...one.keys()]))];
  return names
    .map((name) => ({ name, texts: facts.map((one) => one.get(name) ?? ABSENT) }))
    .filter(({ texts }) => new Set(texts).size > 1);
}
