import { css } from '@emotion/css';
import React from 'react';
import { DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { SETS, type ShownRun } from './shown-runs.ts';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { comparableFacts } from '../../../../core/run/provenance.ts';
import { flattened } from '../../components/flattened.ts';
import type { RunResponse } from '../../../../core/api/runs.ts';
import { t } from '../../text.ts';

/** Settings, servers and tools in which the runs differ. */
export function ConfigurationDifferences({ runs }: { runs: readonly ShownRun[] }) {
  const responses = runs.map(({ response }) => response);
  const differences = configurationDifferences(responses);
  const isAlike = new Set(responses.map(({ run }) => run.fingerprint)).size === 1;
  const title = t('comparison.configuration', 'Configuration differences');
  return (
    <Section
      title={title}
      description={
        isAlike
          ? t('comparison.same-fingerprint', 'The fingerprints are equal: the runs have the same configuration.')
          : t('comparison.other-fingerprint', 'The fingerprints differ: these differences also affect the measures.')
      }
    >
      {differences.length === 0 ? (
        <p>{t('comparison.no-differences', 'No known differences.')}</p>
      ) : (
        <DataTable
          label={title}
          rows={differences}
          rowKey={({ name }) => name}
          columns={[
            { id: 'name', header: t('comparison.setting', 'Setting'), render: ({ name }) => name },
            ...columnsOf(runs, differences).map(({ mark, index }) => ({
              id: mark,
              header: mark,
              wraps: true,
              render: ({ texts }: Difference) => <div className={styles.value}>{texts[index]}</div>,
            })),
          ]}
        />
      )}
    </Section>
  );
}

/** A column per set where its runs do not differ, else per run. */
export function columnsOf(
  runs: ReadonlyArray<Pick<ShownRun, 'mark'>>,
  differences: readonly Difference[]
): Array<{ mark: string; index: number }> {
  const all = runs.map(({ mark }, index) => ({ mark, index }));
  const sets = SETS.map((set) => all.filter(({ mark }) => mark.startsWith(set.toUpperCase())));
  const isEqual = sets.every((ofSet) =>
    differences.every(({ texts }) => new Set(ofSet.map(({ index }) => texts[index])).size <= 1)
  );
  return isEqual ? sets.flatMap(([first]) => (first ? { ...first, mark: first.mark.charAt(0) } : [])) : all;
}

/** Something in which runs differ, with the text of each run. */
interface Difference {
  name: string;
  texts: string[];
}

/** Settings, target, system and tool in which the runs differ. */
export function configurationDifferences(runs: readonly RunResponse[]): Difference[] {
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

// Whole: long texts may differ at their end only.
const styles = { value: css({ minWidth: '6em', overflowWrap: 'anywhere' }) };
