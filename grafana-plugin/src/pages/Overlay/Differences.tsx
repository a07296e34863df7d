import { t } from '@grafana/i18n';
import React from 'react';
import { DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { CompareTable } from './CompareTable.tsx';
import { loadRows } from './compare-rows.ts';
import { configurationDifferences } from './differences.ts';
import type { OverlayRun } from './overlay-runs.ts';

/** Configuration differences of the runs, and the load that they achieved. */
export function Differences({ runs }: { runs: readonly OverlayRun[] }) {
  const answers = runs.map(({ answer }) => answer);
  const differences = configurationDifferences(answers);
  const isAlike = new Set(answers.map(({ run }) => run.fingerprint)).size === 1;
  return (
    <>
      <Section
        title={t('overlay.configuration', 'Configuration differences')}
        description={
          isAlike
            ? t('overlay.same-fingerprint', 'The fingerprints are equal: the runs have the same configuration.')
            : t('overlay.other-fingerprint', 'The fingerprints differ: these differences also affect the measures.')
        }
      >
        {differences.length === 0 ? (
          <p>{t('overlay.no-differences', 'No known differences.')}</p>
        ) : (
          <DataTable
            label={t('overlay.configuration', 'Configuration differences')}
            rows={differences}
            rowKey={({ name }) => name}
            columns={[
              { id: 'name', header: t('overlay.setting', 'Setting'), render: ({ name }) => name },
              ...runs.map(({ letter }, i) => ({
                id: letter,
                header: letter,
                render: ({ texts }: { texts: string[] }) => shortened(texts[i] ?? ''),
              })),
            ]}
          />
        )}
      </Section>
      <Section
        title={t('overlay.load', 'Achieved load')}
        description={t('overlay.load-why', 'Measures are comparable only where the achieved load agrees.')}
      >
        <CompareTable
          label={t('overlay.load', 'Achieved load')}
          runs={runs}
          rows={loadRows(answers.map(({ result }) => result))}
        />
      </Section>
    </>
  );
}

const LONGEST = 40;

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}
