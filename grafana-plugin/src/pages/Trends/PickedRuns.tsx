import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Button, LinkButton, TextLink, useStyles2 } from '@grafana/ui';
import React, { type ReactNode } from 'react';
import { useLocation } from 'react-router-dom';
import { compareSetsUrl, runUrl } from '../../components/run-link.ts';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import type { DraftChange } from './baseline-change.ts';
import { startText } from './run-texts.ts';

interface Props {
  runs: ScenarioResponse['runs'];
  picked: ReadonlySet<string>;
  onClear: () => void;
  /** Starts a change of the baseline; null where that is not allowed. */
  onChange: ((draft: DraftChange) => void) | null;
  children?: ReactNode;
}

/** The selected runs with links to their pages, and to their comparison: the older one is the baseline. */
export function PickedRuns({ runs, picked, onClear, onChange, children }: Props) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const chosen = runs.filter(({ run_id }) => picked.has(run_id)).reverse();
  const [older, newer] = chosen;
  return (
    <div className={styles.bar} role="status">
      {chosen.length === 0 && (
        <span className={styles.hint}>
          {t('trends.hint', 'Select a run to open it, two to compare them; drag over the chart to zoom.')}
        </span>
      )}
      {chosen.map((run) => (
        <TextLink key={run.run_id} href={runUrl({ ...run, status: 'completed' }, search)}>
          {t('trends.open-run', 'Open {{run}}', { run: startText(run) })}
        </TextLink>
      ))}
      {older && newer && (
        <LinkButton
          size="sm"
          icon="layer-group"
          href={compareSetsUrl({ a: [older.run_id], b: [newer.run_id] }, search)}
        >
          {t('trends.compare', 'Compare')}
        </LinkButton>
      )}
      {chosen.length > 0 && onChange !== null && (
        <Button
          size="sm"
          variant="secondary"
          onClick={() => onChange({ action: 'accept', runIds: chosen.map(({ run_id }) => run_id) })}
        >
          {t('trends.change-picked', 'Change baseline')}
        </Button>
      )}
      {chosen.length > 0 && (
        <Button size="sm" variant="secondary" fill="text" onClick={onClear}>
          {t('trends.clear', 'Clear selection')}
        </Button>
      )}
      {children}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  bar: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(2), minHeight: 32 }),
  hint: css({ color: theme.colors.text.secondary }),
});
