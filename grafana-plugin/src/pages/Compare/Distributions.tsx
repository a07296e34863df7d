import { Combobox, LoadingPlaceholder } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { quantity, tickText } from '../../../../core/text/quantities.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { distributionSeries } from '../../charts/xy-series.ts';
import { percentText } from '../../charts/time-text.ts';
import { hasValues, XyChart } from '../../charts/XyChart.tsx';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { DISTRIBUTIONS, type ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { DistributionName } from '../../../../core/api/run-data.ts';
import { measureName } from '../../components/measure-name.ts';
import type { ShownRun } from './shown-runs.ts';
import { Named } from '../../components/Named.tsx';
import { t } from '../../text.ts';

const DEFAULT_MEASURE: DistributionName = 'time_to_first_token';
const POINTS = 1000;

interface Props {
  runs: readonly ShownRun[];
  exporter: ExporterApi;
}

/** Exact distribution functions of a measure, one curve per run. */
export function Distributions({ runs, exporter }: Props) {
  const address = useAddress();
  const measure = DISTRIBUTIONS.find((name) => name === address.one('distribution')) ?? DEFAULT_MEASURE;
  const finished = useMemo(() => runs.filter(({ response }) => response.result !== null), [runs]);
  const load = useCallback(
    (signal: AbortSignal) =>
      Promise.all(
        finished.map(({ response }) =>
          exporter.distribution(response.summary.run_id, { measure, points: POINTS }, signal)
        )
      ),
    [finished, exporter, measure]
  );
  const { data, error, loading, reload } = useLoaded(load);
  const series = useMemo(
    () =>
      (data ?? []).flatMap((distribution, i) => {
        const run = finished[i];
        return run ? distributionSeries(distribution, run) : [];
      }),
    [data, finished]
  );
  const unit = data?.[0]?.unit ?? 'seconds';
  const definitions = new Set((data ?? []).map(({ definition }) => definition));
  return (
    <Section
      title={t('comparison.distributions', 'Distributions')}
      description={
        definitions.size > 1
          ? t(
              'comparison.distributions-unlike',
              'The runs use different definitions of this measure: the curves are not comparable.'
            )
          : t('comparison.distributions-why', 'Share of values at or below x. Exact: computed from every value.')
      }
      actions={
        <Named label={t('comparison.distribution-of', 'Distribution of')}>
          {(named) => (
            <Combobox
              options={DISTRIBUTIONS.map((name) => ({ value: name, label: measureName(name) }))}
              value={measure}
              onChange={({ value }) => address.set({ distribution: value === DEFAULT_MEASURE ? null : value })}
              width={36}
              aria-labelledby={named}
            />
          )}
        </Named>
      }
    >
      {error && (
        <LoadProblem
          title={t('comparison.distributions-problem', 'The distributions could not be loaded')}
          error={error}
          onRetry={reload}
        />
      )}
      {loading && !data && <LoadingPlaceholder text="" />}
      {data && !hasValues(series) && (
        <p>{t('comparison.distributions-none', 'These runs have no values of this measure for each request.')}</p>
      )}
      {data && hasValues(series) && (
        <XyChart
          label={t('comparison.distributions-chart', 'Distribution functions of {{measure}}', {
            measure: measureName(measure),
          })}
          series={series}
          height={280}
          xText={(value) => (unit === 'seconds' ? tickText(value, unit) : quantity(value, unit))}
          yText={percentText}
          yDomain={SHARES}
        />
      )}
    </Section>
  );
}

const SHARES: readonly [number, number] = [0, 1];
