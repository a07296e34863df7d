import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Badge, type BadgeColor, Icon, LinkButton, TextLink, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useLocation } from 'react-router-dom';
import { trendsUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import type { AttentionItem, AttentionKind } from './attention.ts';
import type { Overview } from './overview.ts';
import { t } from '../../text.ts';

const COLORS: Record<AttentionKind, BadgeColor> = {
  regressed: 'red',
  suspect: 'orange',
  overdue: 'orange',
  undecided: 'purple',
  acknowledged: 'darkgrey',
};

/** What regressed, is suspect, overdue or undecided, each with the comparison behind it. */
export function Attention({ overview }: { overview: Overview }) {
  const styles = useStyles2(getStyles);
  const { attention, attentionTotal } = overview;
  const hidden = attentionTotal - new Set(attention.map(({ scenario }) => scenario)).size;
  return (
    <Section title={t('attention.title', 'Needs attention')}>
      {attention.length === 0 ? (
        <p className={styles.quiet}>
          <Icon name="check-circle" className={styles.good} />
          {t('attention.none', 'No scenario has an open regression, or is suspect, overdue or undecided.')}
        </p>
      ) : (
        <ul className={styles.list}>
          {attention.map((item) => (
            <li key={`${item.kind} ${item.scenario}`} className={styles.item}>
              <Item item={item} />
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && (
        <p className={styles.facts}>{t('attention.more', 'and {{count}} more scenarios', { count: hidden })}</p>
      )}
    </Section>
  );
}

function Item({ item: { kind, scenario, sentence, facts, compareUrl } }: { item: AttentionItem }) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  return (
    <>
      <Badge text={kindText(kind)} color={COLORS[kind]} className={styles.badge} />
      <div className={styles.text}>
        <div>
          <TextLink href={trendsUrl(scenario, search)}>{scenario}</TextLink> <span>{sentence}</span>
        </div>
        {facts.length > 0 && <div className={styles.facts}>{facts.join(' · ')}</div>}
      </div>
      {compareUrl !== null && (
        <LinkButton
          size="sm"
          variant="secondary"
          icon="layer-group"
          href={compareUrl}
          aria-label={t('attention.compare-of', 'Compare {{scenario}} with the baseline', { scenario })}
        >
          {t('attention.compare', 'Compare')}
        </LinkButton>
      )}
    </>
  );
}

function kindText(kind: AttentionKind): string {
  switch (kind) {
    case 'regressed':
      return t('attention.kind.regressed', 'regressed');
    case 'acknowledged':
      return t('attention.kind.acknowledged', 'acknowledged');
    case 'suspect':
      return t('attention.kind.suspect', 'suspect');
    case 'overdue':
      return t('attention.kind.overdue', 'overdue');
    case 'undecided':
      return t('attention.kind.undecided', 'undecided');
  }
}

const getStyles = (theme: GrafanaTheme2) => ({
  quiet: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1), margin: 0 }),
  good: css({ color: theme.colors.success.text }),
  list: css({ listStyle: 'none', margin: 0, padding: 0 }),
  item: css({
    display: 'grid',
    gridTemplateColumns: '7.5em minmax(0, 1fr) auto',
    alignItems: 'start',
    gap: theme.spacing(1),
    padding: theme.spacing(0.75, 0),
    '&:not(:last-child)': { borderBottom: `1px solid ${theme.colors.border.weak}` },
  }),
  badge: css({ justifySelf: 'start' }),
  text: css({ overflowWrap: 'anywhere' }),
  facts: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: 0 }),
});
