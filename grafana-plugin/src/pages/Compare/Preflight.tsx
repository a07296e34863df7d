import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Alert, Button, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useAddress } from '../../hooks/useAddress.ts';
import type { CompareResponse } from '../../../../core/api/comparison.ts';
import type { PreflightFinding } from '../../../../core/api/verdict.ts';
import { markOf } from './shown-runs.ts';
import { t } from '../../text.ts';

/** Why the runs are not comparable, and what is not known of them, each with what to do. */
export function Preflight({ comparison }: { comparison: CompareResponse }) {
  const failed = comparison.preflight.filter(({ outcome }) => outcome === 'failed');
  const unknown = comparison.preflight.filter(({ outcome }) => outcome === 'unknown');
  const accepted = comparison.preflight.filter(({ outcome }) => outcome === 'accepted');
  const address = useAddress();
  const isAcross = address.one('across_scenarios') === 'true';
  return (
    <>
      {failed.length > 0 && (
        <Alert severity="warning" title={t('comparison.not-comparable', 'The runs are not comparable')}>
          <Findings findings={failed} comparison={comparison} isAcross={isAcross} />
          {isAcross || !failed.some(({ check }) => check === 'scenario' || check === 'fingerprint') ? null : (
            <Button size="sm" variant="secondary" onClick={() => address.set({ across_scenarios: 'true' })}>
              {t('comparison.anyway', 'Compare anyway')}
            </Button>
          )}
        </Alert>
      )}
      {accepted.length > 0 && (
        <Alert severity="info" title={t('comparison.accepted', 'Differs on purpose')}>
          <Findings findings={accepted} comparison={comparison} />
        </Alert>
      )}
      {unknown.length > 0 && (
        <Alert severity="info" title={t('comparison.not-known', 'Not known to be comparable in every respect')}>
          <Findings findings={unknown} comparison={comparison} />
        </Alert>
      )}
    </>
  );
}

interface FindingsProps {
  findings: readonly PreflightFinding[];
  comparison: CompareResponse;
  /** Different names and engines are already accepted: what is left differs in its load. */
  isAcross?: boolean;
}

function Findings({ findings, comparison, isAcross = false }: FindingsProps) {
  const styles = useStyles2(getStyles);
  const all = comparison.runs.a.length + comparison.runs.b.length;
  return (
    <ul className={styles.list}>
      {findings.map(({ check, outcome, sentence, run_ids }) => (
        <li key={`${check} ${outcome}`}>
          {sentence} {run_ids.length < all && runsText(run_ids, comparison)}{' '}
          {outcome !== 'accepted' && remedy(check, isAcross)}
        </li>
      ))}
    </ul>
  );
}

function runsText(ids: readonly string[], comparison: CompareResponse): string {
  const runs = ids.flatMap((id) => markOf(comparison, id) ?? []).join(', ');
  return t('comparison.concerned', 'Runs: {{runs}}.', { runs });
}

function remedy(check: PreflightFinding['check'], isAcross: boolean): string {
  switch (check) {
    case 'scenario':
      return t(
        'remedy.scenario',
        'Choose runs of one scenario, for example with scenario:NAME. Two engines under the same load can be compared anyway.'
      );
    case 'fingerprint':
      if (isAcross) {
        return t(
          'remedy.load-differs',
          'The load or other options differ too, so the changes below are those of load and server together, without a verdict. “Configuration differences” and “Achieved load” show where.'
        );
      }
      return t(
        'remedy.fingerprint',
        'Leave these runs out, or repeat them with the same options; the differences are listed below. Two engines under the same load can be compared anyway, also with other names of their models. For other options that differ on purpose, use llmbench ab.'
      );
    case 'input_tokens':
      return t('remedy.input-tokens', 'Repeat the runs with the same prompts and input lengths.');
    case 'output_tokens':
      return t(
        'remedy.output-tokens',
        'Repeat the runs with the same output lengths; servers that support it generate them exactly with ignore_eos.'
      );
    case 'cached_input_ratio':
      return t(
        'remedy.cached-input',
        'Repeat the runs with the same state of the prefix cache: emptied before each run, or filled by the same warm-up.'
      );
    case 'request_rate':
      return t('remedy.request-rate', 'Repeat the runs at the same request rate.');
    case 'client':
      return t(
        'remedy.client',
        'Repeat the runs with more --workers, at a lower load, or from a machine with more free CPU.'
      );
    case 'missing_shards':
      return t('remedy.missing-shards', 'Repeat the runs with all of their shards.');
    case 'foreign_traffic':
      return t('remedy.foreign-traffic', 'Repeat the runs when no one else uses the servers.');
    case 'time_order':
      return t('remedy.time-order', 'Import them with their times, or measure in interleaved pairs with llmbench ab.');
    case 'earlier_days':
      return t('remedy.earlier-days', 'Import the same slices of more days before with --days.');
  }
}

const getStyles = (theme: GrafanaTheme2) => ({
  list: css({ margin: 0, paddingLeft: theme.spacing(2) }),
});
