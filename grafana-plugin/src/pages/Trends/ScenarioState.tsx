import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { Alert, Button, LinkButton, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useLocation } from 'react-router-dom';
import { capitalized } from '../../../../core/measures/names.ts';
import { regressionFacts } from '../../components/OpenRegressions.tsx';
import { regressionUrl, verdictUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import { VerdictBadge } from '../../components/Badges.tsx';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import type { DraftChange } from './BaselineChanges.tsx';
import { t } from '../../text.ts';

interface Props {
  scenario: ScenarioResponse;
  /** Starts a change of the baseline; null where that is not allowed. */
  onChange: ((draft: DraftChange) => void) | null;
}

/** The newest verdict with its evidence, and what needs somebody's attention. */
export function ScenarioState({ scenario: { summary, verdicts, baseline }, onChange }: Props) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const [newest] = verdicts;
  const url = newest ? verdictUrl(newest, search) : null;
  const open = summary.open_regression;
  const compare = open && regressionUrl(open, search);
  return (
    <>
      {open && (
        <Alert severity={open.acknowledged === null ? 'error' : 'warning'} title={capitalized(open.sentence)}>
          {regressionFacts(open).join(' · ')}.{' '}
          {t(
            'trends.open-how',
            'It ends when further runs show that it is over, or when these runs are accepted as the new baseline. llmbench regression acknowledge lets checks pass until then.'
          )}
          <div className={styles.actions}>
            {compare !== null && (
              <LinkButton size="sm" variant="secondary" icon="layer-group" href={compare}>
                {t('trends.compare-open', 'Compare all runs since then')}
              </LinkButton>
            )}
            {onChange !== null && (
              <Button
                size="sm"
                variant="secondary"
                onClick={() => onChange({ action: 'accept', runIds: open.run_ids })}
              >
                {t('trends.accept-open', 'Accept these runs')}
              </Button>
            )}
          </div>
        </Alert>
      )}
      {summary.overdue && (
        <Alert
          severity="warning"
          title={t('trends.overdue', 'No run has completed for more than twice the expected interval')}
        />
      )}
      <Section
        title={t('trends.state', 'Newest verdict')}
        actions={
          url !== null && (
            <LinkButton size="sm" variant="secondary" icon="layer-group" href={url}>
              {t('trends.compare-with-baseline', 'Compare with the baseline')}
            </LinkButton>
          )
        }
      >
        {newest ? (
          <div className={styles.verdict}>
            <VerdictBadge verdict={newest.verdict} />
            <span>{newest.sentence}</span>
            <span className={styles.facts}>
              {[dateTimeFormat(newest.at), newest.author].filter(Boolean).join(' · ')}
            </span>
          </div>
        ) : (
          <p className={styles.facts}>
            {t('trends.never-judged', 'No run was judged yet: llmbench check --scenario {{scenario}}', {
              scenario: summary.scenario,
            })}
          </p>
        )}
        <p className={styles.facts}>{baselineText(baseline)}</p>
      </Section>
    </>
  );
}

function baselineText({ accepted, pinned }: ScenarioResponse['baseline']): string {
  if (accepted.length === 0) {
    return t('trends.no-baseline', 'No baseline: accept runs with llmbench baseline accept.');
  }
  return pinned.length === 0
    ? t('trends.baseline-size', 'Baseline: {{accepted}} accepted runs, none pinned', { accepted: accepted.length })
    : t(
        'trends.baseline-anchor',
        'Baseline: {{accepted}} accepted runs; {{pinned}} pinned as the anchor against slow drift',
        {
          accepted: accepted.length,
          pinned: pinned.length,
        }
      );
}

const getStyles = (theme: GrafanaTheme2) => ({
  verdict: css({
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: theme.spacing(1),
    marginBottom: theme.spacing(1),
  }),
  actions: css({ display: 'flex', gap: theme.spacing(1), marginTop: theme.spacing(1) }),
  facts: css({ color: theme.colors.text.secondary, margin: 0 }),
});
