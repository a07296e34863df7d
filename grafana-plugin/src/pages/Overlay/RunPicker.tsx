import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { MultiCombobox, TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { useLocation } from 'react-router-dom';
import type { Address } from '../../app/useAddress.ts';
import { runTitle, runUrl } from '../../components/run-link.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { RunSummary } from '../../exporter-api/types.ts';
import type { OverlayRun } from './overlay-runs.ts';
import { Named } from '../../components/Named.tsx';

interface Props {
  exporter: ExporterApi;
  address: Address;
  runs: readonly OverlayRun[];
}

/** Selects the runs and their order; each has a letter and a color. */
export function RunPicker({ exporter, address, runs }: Props) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const titles = new Map(runs.map(({ answer: { summary } }) => [summary.run_id, runTitle(summary)]));
  const options = useCallback(
    async (text: string) => {
      const page = await exporter.runs({ q: text, limit: 50 });
      return page.runs.map((run) => ({ value: run.run_id, label: runTitle(run), description: description(run) }));
    },
    [exporter]
  );
  return (
    <div className={styles.picker}>
      <Named label={t('overlay.pick', 'Choose runs')}>
        {(named) => (
          <MultiCombobox
            options={options}
            value={address.all('run').map((id) => ({ value: id, label: titles.get(id) ?? id }))}
            onChange={(chosen) => address.set({ run: chosen.map(({ value }) => value) })}
            placeholder={t('overlay.pick', 'Choose runs')}
            aria-labelledby={named}
            isClearable
          />
        )}
      </Named>
      <ul className={styles.list}>
        {runs.map(({ letter, color, answer: { summary } }) => (
          <li key={summary.run_id} className={styles.run}>
            <span className={styles.dot} style={{ background: color }} />
            <b>{letter}</b>
            <TextLink href={runUrl(summary, search)}>{runTitle(summary)}</TextLink>
            <span className={styles.facts} title={summary.run_id}>
              {description(summary)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function description({ load, model, system, run_id }: RunSummary): string {
  return [load, model, system, run_id].filter(Boolean).join(' · ');
}

const getStyles = (theme: GrafanaTheme2) => ({
  picker: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1) }),
  list: css({ listStyle: 'none', margin: 0, display: 'grid', gap: theme.spacing(0.5) }),
  run: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1) }),
  dot: css({ width: 10, height: 10, borderRadius: theme.shape.radius.circle }),
  facts: css({ color: theme.colors.text.secondary }),
});
