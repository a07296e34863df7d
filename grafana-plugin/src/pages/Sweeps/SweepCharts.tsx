import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React, { useMemo } from 'react';
import { significant, tickText } from '../../../../core/text/quantities.ts';
import { Section } from '../../components/Section.tsx';
import {
  efficiency,
  goodputCurves,
  latencyCurves,
  limitsOf,
  type ShownSweep,
  throughputCurves,
} from './chart-curves.ts';
import { CurveChart } from './CurveChart.tsx';
import { latencyName, throughputName, type SweepSettings } from './settings.ts';
import { t } from '../../text.ts';

interface Props {
  shown: readonly ShownSweep[];
  settings: SweepSettings;
}

/** The sweeps laid over each other, in four charts. */
export function SweepCharts({ shown, settings }: Props) {
  const styles = useStyles2(getStyles);
  const loadTitle = shown.every(({ sweep }) => sweep.load_mode === 'request_rate')
    ? t('sweeps.load-rate', 'requests/s sent')
    : t('sweeps.load-concurrency', 'concurrency');
  const load = { title: loadTitle, text: plain, mayBeLog: true };
  return (
    <div className={styles.charts}>
      <LatencyChart shown={shown} settings={settings} />
      <EfficiencyChart shown={shown} settings={settings} />
      <GoodputChart shown={shown} load={load} />
      <ThroughputChart shown={shown} settings={settings} load={load} />
    </div>
  );
}

const plain = (value: number) => significant(Number(value.toPrecision(6)));

function LatencyChart({ shown, settings }: Props) {
  const curves = useMemo(() => latencyCurves(shown, settings), [shown, settings]);
  const limits = useMemo(() => limitsOf(shown, settings), [shown, settings]);
  const latency = latencyName(settings.latency);
  const title = t('sweeps.latency-chart', 'Throughput and latency');
  return (
    <Section
      title={title}
      description={t('sweeps.latency-chart-what', '{{percentile}} of the {{latency}} over ok requests', {
        percentile: settings.percentile,
        latency,
      })}
    >
      {curves.length === 0 ? (
        <p>{t('sweeps.latency-missing', 'No run of these sweeps has both values.')}</p>
      ) : (
        <CurveChart
          label={title}
          curves={curves}
          limits={limits}
          x={{ title: throughputName(settings.throughput), text: plain }}
          y={{
            title: `${settings.percentile} ${latency}`,
            text: (value) => tickText(value, 'seconds'),
            mayBeLog: true,
          }}
        />
      )}
    </Section>
  );
}

function EfficiencyChart({ shown, settings }: Props) {
  const { curves, frontier, withoutGpus } = useMemo(() => efficiency(shown, settings), [shown, settings]);
  const title = t('sweeps.efficiency-chart', 'Tokens/s per user and per GPU');
  const missing = t(
    'sweeps.gpus-missing',
    'The servers’ metrics do not report the number of GPUs of {{sweeps}}. Enter it above.',
    { sweeps: withoutGpus.map(({ name }) => name).join(', ') }
  );
  return (
    <Section
      title={title}
      description={t(
        'sweeps.efficiency-chart-what',
        'Speed per user: 1 ÷ {{percentile}} of the inter-token latency. Gray band: Pareto frontier.',
        { percentile: settings.percentile }
      )}
    >
      {withoutGpus.length > 0 && <p>{missing}</p>}
      {curves.length > 0 ? (
        <CurveChart
          label={title}
          curves={curves}
          frontier={frontier}
          x={{ title: t('sweeps.per-user', 'tokens/s per user'), text: plain }}
          y={{
            title:
              settings.throughput === 'total_token_throughput'
                ? t('sweeps.per-gpu-total', 'total tokens/s per GPU')
                : t('sweeps.per-gpu', 'output tokens/s per GPU'),
            text: plain,
          }}
        />
      ) : (
        withoutGpus.length === 0 && <p>{t('sweeps.latency-missing', 'No run of these sweeps has both values.')}</p>
      )}
    </Section>
  );
}

interface OverLoad {
  shown: readonly ShownSweep[];
  load: { title: string; text: (value: number) => string; mayBeLog: boolean };
}

function GoodputChart({ shown, load }: OverLoad) {
  const curves = useMemo(() => goodputCurves(shown), [shown]);
  const title = t('sweeps.goodput-chart', 'Goodput over load');
  return (
    <Section
      title={title}
      description={t('sweeps.goodput-chart-what', 'Requests/s that keep every limit; dashed: all ok requests/s')}
    >
      {curves.length === 0 ? (
        <p>
          {t('sweeps.goodput-missing', 'Goodput is missing, because the runs have no limits: llmbench run --goodput')}
        </p>
      ) : (
        <CurveChart
          label={title}
          curves={curves}
          x={load}
          y={{ title: t('sweeps.requests-per-second', 'requests/s'), text: plain }}
        />
      )}
    </Section>
  );
}

function ThroughputChart({ shown, settings, load }: Props & OverLoad) {
  const curves = useMemo(() => throughputCurves(shown, settings), [shown, settings]);
  const title = t('sweeps.throughput-chart', 'Throughput over load');
  return (
    <Section
      title={title}
      description={t(
        'sweeps.throughput-chart-what',
        'From the knee on, throughput grows less than in proportion to the load (Kneedle, Satopää et al. 2011).'
      )}
    >
      {curves.length === 0 ? (
        <p>{t('sweeps.throughput-missing', 'No run of these sweeps has this throughput.')}</p>
      ) : (
        <CurveChart
          label={title}
          curves={curves}
          x={load}
          y={{ title: throughputName(settings.throughput), text: plain }}
        />
      )}
    </Section>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  charts: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(min(100%, max(420px, 40%)), 1fr))',
    alignItems: 'start',
    gap: theme.spacing(1.5),
    // Cards without a chart are small, and after the others.
    '> section:not(:has(svg))': { order: 1 },
  }),
});
