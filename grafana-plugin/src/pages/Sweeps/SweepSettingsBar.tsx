import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Combobox, Input, RadioButtonGroup, useStyles2 } from '@grafana/ui';
import React, { type ReactNode, useId } from 'react';
import { SWEEP_LATENCIES, SWEEP_PERCENTILES } from '../../../../core/sweeps/sweep-figures.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { gpusOf, THROUGHPUTS, latencyName, throughputName, type SweepSettings } from './settings.ts';
import { t } from '../../text.ts';

interface Props {
  settings: SweepSettings;
  /** Whether a sweep needs the number of GPUs to be entered. */
  needsGpus: boolean;
}

/** What the charts show; the settings are in the page's address. */
export function SweepSettingsBar({ settings, needsGpus }: Props) {
  const styles = useStyles2(getStyles);
  const address = useAddress();
  const gpusId = useId();
  return (
    <div className={styles.bar}>
      <Setting label={t('sweeps.set-throughput', 'Throughput')}>
        {(id) => (
          <Combobox
            options={THROUGHPUTS.map((value) => ({ value, label: throughputName(value) }))}
            value={settings.throughput}
            onChange={({ value }) => address.set({ throughput: value })}
            width={22}
            aria-labelledby={id}
          />
        )}
      </Setting>
      <Setting label={t('sweeps.set-latency', 'Latency')}>
        {(id) => (
          <Combobox
            options={SWEEP_LATENCIES.map((value) => ({ value, label: latencyName(value) }))}
            value={settings.latency}
            onChange={({ value }) => address.set({ latency: value })}
            width={26}
            aria-labelledby={id}
          />
        )}
      </Setting>
      <Setting label={t('sweeps.set-percentile', 'Percentile')}>
        {() => (
          <RadioButtonGroup
            options={SWEEP_PERCENTILES.map((value) => ({ value, label: value }))}
            value={settings.percentile}
            onChange={(value) => address.set({ percentile: value })}
            aria-label={t('sweeps.set-percentile', 'Percentile')}
          />
        )}
      </Setting>
      {needsGpus && (
        <div>
          <label htmlFor={gpusId} className={styles.label}>
            {t('sweeps.set-gpus', 'GPUs per sweep')}
          </label>
          <Input
            id={gpusId}
            type="number"
            min={1}
            width={14}
            key={settings.gpus ?? ''}
            defaultValue={settings.gpus ?? ''}
            placeholder={t('sweeps.set-gpus-placeholder', 'unknown')}
            onBlur={({ currentTarget }) => address.set({ gpus: String(gpusOf(currentTarget.value) ?? '') })}
            onKeyDown={({ key, currentTarget }) => {
              if (key === 'Enter') {
                address.set({ gpus: String(gpusOf(currentTarget.value) ?? '') });
              }
            }}
          />
        </div>
      )}
    </div>
  );
}

function Setting({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const styles = useStyles2(getStyles);
  const id = useId();
  return (
    <div>
      <span id={id} className={styles.label}>
        {label}
      </span>
      {children(id)}
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  bar: css({ display: 'flex', flexWrap: 'wrap', gap: theme.spacing(2), alignItems: 'flex-end' }),
  label: css({ ...theme.typography.bodySmall, display: 'block', color: theme.colors.text.secondary }),
});
