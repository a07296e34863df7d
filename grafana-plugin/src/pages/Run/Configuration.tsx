import { css, cx } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { ClipboardButton, useStyles2 } from '@grafana/ui';
import React from 'react';
import { stageText, type Load } from '../../../../core/run/load.ts';
import { provenanceFacts } from '../../../../core/run/provenance.ts';
import type { RunFile } from '../../../../core/run/run.ts';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { shellCommand } from '../../../../core/text/words.ts';
import { Section } from '../../components/Section.tsx';
import { SnippetBox } from '../../components/SnippetBox.tsx';
import { flattened } from '../../components/flattened.ts';
import { t } from '../../text.ts';

export interface ConfigurationFacts {
  stated: ReadonlyArray<readonly [name: string, text: string]>;
  /** Names of what was not set, or is not known. */
  notStated: readonly string[];
  /** The command that measures the same again; null: not known. */
  command: string | null;
}

/** The stages as `--stages` reads them. */
const loadFacts = (load: Load) => ({
  ...load,
  ...(load.stages && { stages: load.stages.map(stageText).join(',') }),
});

/** Everything in the fingerprint, and what the run was made of and measured on. */
export function configurationFacts(run: RunFile): ConfigurationFacts {
  const { measure_definitions: _definitions, ...key } = run.comparison_key;
  const facts: ConfigurationFacts['stated'] = [
    ['run_id', run.run_id],
    ...flattened(run.target.origin, 'target'),
    ...(run.group_id === null ? [] : flattened(run.group_id, 'group')),
    ...flattened({ ...key, load: key.load && loadFacts(key.load) }),
    ...flattened(run.dataset, 'dataset'),
    ...(run.provenance ? provenanceFacts(run.provenance) : []),
  ];
  return {
    stated: facts.filter(([, text]) => text !== ABSENT),
    notStated: facts.filter(([, text]) => text === ABSENT).map(([name]) => name),
    command: run.command_line && shellCommand(run.command_line),
  };
}

/** Longer texts take the whole width. */
const LONG_TEXT = 42;

/** The configuration of a run: everything in the fingerprint, the target and the group, and the command. */
export function Configuration({ run }: { run: RunFile }) {
  const styles = useStyles2(getStyles);
  const { stated, notStated, command } = configurationFacts(run);
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
        {stated.map(([name, text]) => (
          <div key={name} className={cx(styles.fact, text.length > LONG_TEXT && styles.long)}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {notStated.length > 0 && (
        <p className={styles.notStated}>
          {t('configuration.not-stated', 'Not stated: {{names}}', { names: notStated.join(', ') })}
        </p>
      )}
      {command !== null && (
        <SnippetBox title={t('configuration.command', 'Command that repeats the run')} text={command} wraps />
      )}
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
    dt: { color: theme.colors.text.secondary, fontWeight: theme.typography.fontWeightRegular, flexShrink: 0 },
    dd: { margin: 0, textAlign: 'right', overflowWrap: 'anywhere' },
  }),
  long: css({ '&&': { gridColumn: '1 / -1', justifyContent: 'flex-start' }, '&& dd': { textAlign: 'left' } }),
  notStated: css({
    ...theme.typography.bodySmall,
    color: theme.colors.text.secondary,
    margin: theme.spacing(1, 0),
    overflowWrap: 'anywhere',
  }),
});
