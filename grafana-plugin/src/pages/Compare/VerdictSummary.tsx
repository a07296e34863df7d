import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import { useAddress } from '../../hooks/useAddress.ts';
import { VerdictBadge } from '../../components/Badges.tsx';
import type { CompareResponse } from '../../../../core/api/comparison.ts';
import { t } from '../../text.ts';

/** The verdict in one sentence, and what it is about. */
export function VerdictSummary({ comparison }: { comparison: CompareResponse }) {
  const styles = useStyles2(getStyles);
  const address = useAddress();
  const { verdict, sentence, runs, design } = comparison;
  const leftOut = comparison.left_out ?? address.one('left_out');
  return (
    <section className={styles.summary} aria-label={t('comparison.summary', 'Verdict')}>
      <VerdictBadge verdict={verdict} />
      <h2 className={styles.sentence}>{sentence}</h2>
      <p className={styles.facts}>
        {[
          scenarioText(comparison),
          `A ${runsText(runs.a.length)}`,
          `B ${runsText(runs.b.length)}`,
          design === 'pairs'
            ? t('comparison.pairs', 'compared in pairs')
            : t('comparison.sets', 'compared as independent sets'),
          ...(leftOut === null
            ? []
            : [
                t('comparison.left-out', 'without {{run}}, which raised the suspicion and cannot confirm it', {
                  run: leftOut,
                }),
              ]),
        ].join(' · ')}
      </p>
    </section>
  );
}

/** The scenario, or that of each side where they differ on purpose. An older exporter names one. */
function scenarioText({ scenario, scenarios }: CompareResponse): string {
  const [a, b] = [scenarios?.a.join(', '), scenarios?.b.join(', ')];
  return a === b
    ? t('comparison.scenario', 'Scenario {{scenario}}', { scenario })
    : t('comparison.scenarios', 'Scenarios {{a}} (A) and {{b}} (B)', { a, b });
}

export function runsText(runs: number): string {
  return runs === 1 ? t('comparison.one-run', '1 run') : t('comparison.n-runs', '{{runs}} runs', { runs });
}

const getStyles = (theme: GrafanaTheme2) => ({
  summary: css({
    display: 'grid',
    gridTemplateColumns: 'auto 1fr',
    alignItems: 'center',
    gap: theme.spacing(0.5, 1.5),
    background: theme.colors.background.primary,
    border: `1px solid ${theme.colors.border.weak}`,
    borderRadius: theme.shape.radius.default,
    padding: theme.spacing(1.5, 2),
  }),
  sentence: css({ ...theme.typography.h4, margin: 0, overflowWrap: 'anywhere' }),
  facts: css({ gridColumn: 2, margin: 0, color: theme.colors.text.secondary }),
});
