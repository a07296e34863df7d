import { t } from '@grafana/i18n';
import React from 'react';
import { Section } from '../../components/Section.tsx';
import { CompareTable } from './CompareTable.tsx';
import { measureRows } from './compare-rows.ts';
import type { OverlayRun } from './overlay-runs.ts';

/** The measures of all runs with the difference to the first. */
export function SideBySide({ runs }: { runs: readonly OverlayRun[] }) {
  return (
    <Section
      title={t('overlay.measures', 'Measures')}
      description={t(
        'overlay.measures-why',
        'Exact, over ok requests. Percentages are differences from run A. Repeated runs are required to determine whether a difference is significant.'
      )}
    >
      <CompareTable
        label={t('overlay.measures', 'Measures')}
        runs={runs}
        rows={measureRows(runs.map(({ answer }) => answer.result))}
      />
    </Section>
  );
}
