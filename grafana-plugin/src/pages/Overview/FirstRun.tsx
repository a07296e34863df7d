import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Icon, LinkButton, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { Section } from '../../components/Section.tsx';
import { SnippetBox, firstRunCommands } from '../../components/SnippetBox.tsx';
import { pageUrl, ROUTES } from '../../constants.ts';
import { t } from '../../text.ts';

/** The three steps to the first run, those that are done with a mark. */
export function FirstRun({ exporterAnswers = false }: { exporterAnswers?: boolean }) {
  const styles = useStyles2(getStyles);
  const { serve, run } = firstRunCommands();
  return (
    <Section title={t('first-run.title', 'Three steps to the first run')}>
      <ol className={styles.steps}>
        <Step isDone={exporterAnswers} title={t('first-run.serve', 'Start the exporter beside your runs')}>
          {!exporterAnswers && <SnippetBox title={t('first-run.command', 'Command')} text={serve} wraps />}
        </Step>
        <Step
          isDone={exporterAnswers}
          title={t('first-run.connect', 'Connect Grafana with it, and Prometheus with both')}
        >
          <LinkButton size="sm" variant="secondary" href={pageUrl(ROUTES.setup)}>
            {t('first-run.setup', 'Set up')}
          </LinkButton>
        </Step>
        <Step title={t('first-run.run', 'Run a benchmark: it appears here while it runs')}>
          <SnippetBox title={t('first-run.command', 'Command')} text={run} wraps />
        </Step>
      </ol>
    </Section>
  );
}

interface StepProps {
  title: string;
  isDone?: boolean;
  children: ReactNode;
}

function Step({ title, isDone = false, children }: StepProps) {
  const styles = useStyles2(getStyles);
  return (
    <li className={styles.step}>
      <div className={styles.title}>
        {isDone && <Icon name="check-circle" className={styles.done} title={t('first-run.done', 'done')} />}
        {title}
      </div>
      {children}
    </li>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  steps: css({ display: 'grid', gap: theme.spacing(2), maxWidth: 960, paddingLeft: theme.spacing(3), margin: 0 }),
  step: css({ '> :not(:first-child)': { marginTop: theme.spacing(1) } }),
  title: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1) }),
  done: css({ color: theme.colors.success.text }),
});
