import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { Badge, LinkButton, TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { useLocation } from 'react-router-dom';
import { usePage } from '../hooks/page-context.ts';
import type { ListedRegression, ListedScenario } from '../../../core/api/scenarios.ts';
import { regressionUrl, trendsUrl } from './run-link.ts';
import { Section } from './Section.tsx';
import { useLoaded } from '../hooks/useLoaded.ts';
import { VerdictBadge } from './Badges.tsx';
import { t } from '../text.ts';

/** The exporter's limit of one response. */
const MAX_SCENARIOS = 1000;

/** Where each scenario stands, by its name; empty without an exporter, and when it does not answer. */
export function useScenarios(): ReadonlyMap<string, ListedScenario> {
  const { exporter, time } = usePage();
  const load = useCallback(
    async (signal: AbortSignal) => (await exporter?.scenarios({ limit: MAX_SCENARIOS }, signal))?.scenarios ?? [],
    // A new time object means that the page was refreshed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [exporter, time]
  );
  const { data } = useLoaded(exporter === null ? null : load);
  return useMemo(() => new Map(data?.map((each) => [each.scenario, each])), [data]);
}

/** The scenarios with an open regression, those that are not acknowledged first; nothing without one. */
export function OpenRegressions({ scenarios }: { scenarios: ReadonlyMap<string, ListedScenario> }) {
  const styles = useStyles2(getStyles);
  const open = [...scenarios.values()]
    .flatMap(({ scenario, open_regression: regression }) => (regression ? [{ scenario, regression }] : []))
    .sort((a, b) => Number(a.regression.acknowledged !== null) - Number(b.regression.acknowledged !== null));
  if (open.length === 0) {
    return null;
  }
  return (
    <Section title={t('regressions.title', 'Open regressions')}>
      <ul className={styles.list}>
        {open.map(({ scenario, regression }) => (
          <li key={scenario} className={styles.item}>
            <Regression scenario={scenario} regression={regression} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Regression({ scenario, regression }: { scenario: string; regression: ListedRegression }) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const compare = regressionUrl(regression, search);
  return (
    <>
      <RegressionBadge regression={regression} />
      <TextLink href={trendsUrl(scenario, search)} inline={false}>
        {scenario}
      </TextLink>
      <span>{regression.sentence}</span>
      <span className={styles.facts}>{regressionFacts(regression).join(' · ')}</span>
      {compare !== null && (
        <LinkButton size="sm" variant="secondary" icon="layer-group" href={compare} className={styles.action}>
          {t('regressions.compare', 'Compare with the baseline')}
        </LinkButton>
      )}
    </>
  );
}

/** One that somebody has acknowledged fails no check and sends no alert. */
export function RegressionBadge({ regression: { acknowledged } }: { regression: ListedRegression }) {
  return acknowledged === null ? (
    <VerdictBadge verdict="regressed" />
  ) : (
    <Badge color="orange" text={t('regressions.acknowledged', 'acknowledged')} />
  );
}

/** When it began, who has acknowledged it and why, and what ends it. */
export function regressionFacts({ since, acknowledged, needs_to_recover: further }: ListedRegression): string[] {
  return [
    t('regressions.began', 'began {{time}}', { time: dateTimeFormat(since) }),
    ...(acknowledged === null
      ? []
      : [
          t('regressions.acknowledged-by', 'acknowledged on {{time}} by {{author}}: {{reason}}', {
            time: dateTimeFormat(acknowledged.at),
            author: acknowledged.author ?? t('regressions.unknown', 'an unknown user'),
            reason: acknowledged.reason ?? '',
          }),
        ]),
    ...(further === null || further === 0
      ? []
      : further === 1
        ? [t('regressions.ends-one', 'ends with 1 further run like the baseline')]
        : [t('regressions.ends', 'ends with {{count}} further runs like the baseline', { count: further })]),
  ];
}

const getStyles = (theme: GrafanaTheme2) => ({
  list: css({ listStyle: 'none', margin: 0, padding: 0 }),
  item: css({
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: theme.spacing(0.5, 1),
    padding: theme.spacing(0.5, 0),
    overflowWrap: 'anywhere',
  }),
  facts: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary }),
  action: css({ marginLeft: 'auto' }),
});
