import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { ClipboardButton, useStyles2 } from '@grafana/ui';
import React from 'react';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { shellCommand } from '../../../../core/text/shell-word.ts';
import { provenanceFacts } from '../../../../core/run/provenance.ts';
import type { RunFile } from '../../../../core/run/run.ts';
import { flattened } from '../../components/flattened.ts';
import { Section } from '../../components/Section.tsx';
import type { RunSummary } from '../../exporter-api/types.ts';

/** The configuration of a run: everything in the fingerprint, and the target and group. */
export function Configuration({ run, summary }: { run: RunFile; summary: RunSummary }) {
  const styles = useStyles2(getStyles);
  const { measure_definitions: _definitions, ...key } = run.comparison_key;
  const facts: Array<[string, string]> = [
    ['run_id', run.run_id],
    ['target', run.target.origin ?? ABSENT],
    ...(summary.group_id ? [['group', summary.group_id] as [string, string]] : []),
    ...flattened(key),
    ...flattened(run.dataset, 'dataset'),
    ...(run.provenance ? provenanceFacts(run.provenance).map(([name, text]): [string, string] => [name, text]) : []),
    ...(run.command_line ? [['command', shellCommand(run.command_line)] as [string, string]] : []),
  ];
  return (
    <Section
      title={t('configuration.title', 'Configuration')}
      description={t('configuration.description', 'Runs with the same fingerprint have the same configuration.')}
      actions={
        <>
          <code>{run.fingerprint.slice(0, 12)}</code>
          <ClipboardButton getText={() => run.fingerprint} size="sm" variant="secondary" icon="copy">
            {t('configuration.copy', 'Copy the fingerprint')}
          </ClipboardButton>
        </>
      }
    >
      <dl className={styles.list}>
        {facts.map(([name, value]) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  list: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fill, minmax(320px, 1fr))',
    columnGap: theme.spacing(3),
    margin: 0,
    fontSize: theme.typography.bodySmall.fontSize,
  }),
  fact: css({
    display: 'flex',
    gap: theme.spacing(2),
    justifyContent: 'space-between',
    borderBottom: `1px solid ${theme.colors.border.weak}`,
    padding: theme.spacing(0.5, 0),
    minWidth: 0,
    dt: { color: theme.colors.text.secondary, fontWeight: theme.typography.fontWeightRegular },
    dd: { margin: 0, textAlign: 'right', overflowWrap: 'anywhere' },
  }),
});
