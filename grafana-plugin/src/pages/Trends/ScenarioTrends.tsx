import { Alert, Button, EmptyState, LoadingPlaceholder, useTheme2 } from '@grafana/ui';
import React, { useCallback, useMemo, useState } from 'react';
import { currentUser } from '../../hooks/page-context.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import type { VerdictName } from '../../../../core/api/verdict.ts';
import { statisticKey, statisticName } from '../../components/measure-name.ts';
import { BaselineChanges, type DraftChange } from './BaselineChanges.tsx';
import { BaselineDialog } from './BaselineDialog.tsx';
import { PickedRuns, TrendRuns } from './TrendRuns.tsx';
import { ScenarioState } from './ScenarioState.tsx';
import { TrendChart } from './TrendChart.tsx';
import { trendOf, versionMarks } from './trend-points.ts';
import { Mark, MarkLegend } from '../../charts/MarkLegend.tsx';
import { verdictColor, verdictText } from '../../components/Badges.tsx';
import { BAND_OPACITY } from './TrendMarks.tsx';
import { t } from '../../text.ts';

/** The exporter's limit of one response. */
const MAX_RUNS = 1000;
/** Two runs can be compared. */
const MAX_PICKED = 2;

interface Props {
  exporter: ExporterApi;
  scenario: string;
}

/** Everything about one scenario; loads it. */
export function ScenarioTrends({ exporter, scenario }: Props) {
  const load = useCallback(
    (signal: AbortSignal) => exporter.scenario(scenario, { limit: MAX_RUNS }, signal),
    [exporter, scenario]
  );
  const { data, error, loading, reload } = useLoaded(load);
  if (error) {
    return (
      <LoadProblem
        title={t('trends.scenario-problem', 'The scenario could not be loaded')}
        error={error}
        onRetry={reload}
      />
    );
  }
  if (loading && !data) {
    return <LoadingPlaceholder text={t('trends.scenario-loading', 'Loading the runs …')} />;
  }
  return data ? <Loaded exporter={exporter} scenario={data} onChanged={reload} /> : null;
}

interface LoadedProps {
  exporter: ExporterApi;
  scenario: ScenarioResponse;
  onChanged: () => void;
}

function Loaded({ exporter, scenario, onChanged }: LoadedProps) {
  const { runs, measures, total_runs, unreadable_runs } = scenario;
  const picked = usePicked();
  const [draft, setDraft] = useState<DraftChange | null>(null);
  // Grafana's proxy checks the role again.
  const onChange = currentUser().isEditor ? setDraft : null;
  const [places, setPlaces] = usePlaces(runs.length);
  const trends = useMemo(() => measures.map((_, i) => trendOf(scenario, i)), [scenario, measures]);
  const versions = useMemo(
    () => versionMarks(runs, { configuration: t('trends.new-configuration', 'new configuration') }),
    [runs]
  );
  const isZoomed = places[0] > 0 || places[1] < runs.length - 1;
  return (
    <>
      <ScenarioState scenario={scenario} onChange={onChange} />
      {draft !== null && (
        <BaselineDialog
          exporter={exporter}
          scenario={scenario}
          draft={draft}
          onClose={() => setDraft(null)}
          onChanged={() => {
            setDraft(null);
            onChanged();
          }}
        />
      )}
      {unreadable_runs.length > 0 && (
        <Alert
          severity="warning"
          title={t('trends.unreadable', 'Runs that cannot be read are left out: {{runs}}', {
            runs: unreadable_runs.map(({ run_id, reason }) => `${run_id} (${reason})`).join(', '),
          })}
        />
      )}
      {total_runs > runs.length && (
        <Alert
          severity="info"
          title={t('trends.newest-only', 'The newest {{shown}} of {{total}} runs are shown', {
            shown: runs.length.toLocaleString('en-US'),
            total: total_runs.toLocaleString('en-US'),
          })}
        />
      )}
      {runs.length === 0 ? (
        <EmptyState variant="not-found" message={t('trends.no-runs', 'No completed run of this scenario')} />
      ) : (
        <>
          <PickedRuns runs={runs} picked={picked.ids} onClear={picked.clear} onChange={onChange}>
            {isZoomed && (
              <Button size="sm" variant="secondary" icon="search-minus" onClick={() => setPlaces(null)}>
                {t('trends.all', 'Show all runs')}
              </Button>
            )}
          </PickedRuns>
          <TrendLegend />
          {measures.map((measure, i) => {
            const title = statisticName(measure);
            const trend = trends[i];
            return (
              trend && (
                <Section key={statisticKey(measure)} title={title} description={measureText(measure)}>
                  <TrendChart
                    label={t('trends.chart', '{{measure}} of each run, the oldest first', { measure: title })}
                    trend={trend}
                    versions={versions}
                    unit={measure.unit}
                    places={places}
                    picked={picked.ids}
                    onPick={picked.toggle}
                    onZoom={setPlaces}
                  />
                </Section>
              )
            );
          })}
          <TrendRuns scenario={scenario} places={places} picked={picked.ids} onPick={picked.toggle} />
          <BaselineChanges baseline={scenario.baseline} onChange={onChange} />
        </>
      )}
    </>
  );
}

function measureText({ direction, margin }: ScenarioResponse['measures'][number]): string {
  const percent = `${Number((margin * 100).toPrecision(3))} %`;
  return direction === 'higher'
    ? t('trends.higher-is-better', 'Higher is better. Smallest relevant change: {{percent}}.', { percent })
    : t('trends.lower-is-better', 'Lower is better. Smallest relevant change: {{percent}}.', { percent });
}

/** The selected runs, in the URL; a third one replaces the older of the two. */
function usePicked() {
  const address = useAddress();
  const list = useMemo(() => address.all('picked'), [address]);
  const ids = useMemo(() => new Set(list), [list]);
  const toggle = useCallback(
    (id: string) =>
      address.set({ picked: ids.has(id) ? list.filter((one) => one !== id) : [...list, id].slice(-MAX_PICKED) }),
    [address, ids, list]
  );
  return { ids, toggle, clear: () => address.set({ picked: null }) };
}

/** The shown places of runs, in the URL; all without it. */
function usePlaces(runs: number): [readonly [number, number], (places: readonly [number, number] | null) => void] {
  const address = useAddress();
  const text = address.one('places');
  const places = useMemo((): readonly [number, number] => {
    const [, from, to] = /^(\d{1,6})-(\d{1,6})$/.exec(text ?? '') ?? [];
    const last = Math.max(0, runs - 1);
    const [first, end] = [Math.min(last, Number(from ?? 0)), Math.min(last, Number(to ?? last))];
    return first <= end ? [first, end] : [0, last];
  }, [text, runs]);
  const set = useCallback(
    (next: readonly [number, number] | null) =>
      address.set({ places: next === null || next[0] > next[1] ? null : `${next[0]}-${next[1]}` }),
    [address]
  );
  return [places, set];
}

const VERDICTS: readonly VerdictName[] = ['regressed', 'suspect', 'undecided', 'unchanged', 'improved'];

/** What the drawings of all charts mean. */
function TrendLegend() {
  const theme = useTheme2();
  const grey = theme.colors.text.secondary;
  return (
    <MarkLegend label={t('trends.legend', 'Legend')}>
      <Mark text={t('trends.legend-run', 'run')}>
        <circle cx={8} cy={6} r={4} fill="none" stroke={grey} strokeWidth={1.5} />
      </Mark>
      <Mark text={t('trends.legend-accepted', 'in the baseline')}>
        <circle cx={8} cy={6} r={4} fill={grey} />
      </Mark>
      <Mark text={t('trends.legend-pinned', 'pinned')}>
        <rect x={4} y={2} width={8} height={8} fill={grey} />
      </Mark>
      {VERDICTS.map((verdict) => (
        <Mark key={verdict} text={verdictText(verdict)}>
          <circle cx={8} cy={6} r={4} fill={verdictColor(verdict, theme)} />
        </Mark>
      ))}
      <Mark text={t('trends.legend-interval', '95 % interval within the run')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={grey} />
      </Mark>
      <Mark text={t('trends.legend-baseline', 'range of the baseline')}>
        <rect width={16} height={12} fill={theme.colors.success.main} fillOpacity={BAND_OPACITY} />
      </Mark>
      <Mark text={t('trends.legend-anchor', 'range of the pinned runs')}>
        <rect x={1} y={1} width={14} height={10} fill="none" stroke={theme.colors.warning.main} strokeDasharray="4 3" />
      </Mark>
      <Mark text={t('trends.legend-change', 'change point')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={theme.colors.error.text} strokeWidth={1.5} />
      </Mark>
    </MarkLegend>
  );
}
