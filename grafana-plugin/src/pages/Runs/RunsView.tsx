import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Alert, Button, EmptyState, LinkButton, LoadingBar, Pagination, useStyles2 } from '@grafana/ui';
import React, { useCallback, useMemo, useState } from 'react';
import { useLocation } from 'react-router-dom';
import { usePage } from '../../hooks/page-context.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { type Column, DataTable, type Sort } from '../../components/DataTable.tsx';
import { LabeledSwitch } from '../../components/LabeledSwitch.tsx';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { isJudged, runColumns, type RunRow } from '../../components/run-columns.tsx';
import { compareUrl, timeOfRuns } from '../../components/run-link.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { useRunSource, FILTER_MEMBERS, type RunSource } from '../../runs/run-source.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import { type Histories, runHistories } from '../../../../core/api/overview.ts';
import type { RunsQuery, RunsResponse, RunSummary } from '../../../../core/api/runs.ts';
import { type ListRow, runColumn, useRows } from './list-rows.tsx';
import { RunFilters, isFolded, PAGE_LENGTH, pageOf, runsRequest, sortOf, sortText } from './RunFilters.tsx';
import { t } from '../../text.ts';

/** The list of runs with filters, sort order and selection. Selected runs set the time range and can be compared. */
export default function RunsView() {
  const [withoutExporter, setWithoutExporter] = useState(false);
  const { prometheus, exporter } = usePage();
  const source = useRunSource(withoutExporter);
  if (source === null) {
    return <NoDataSource />;
  }
  return (
    <Runs
      key={source.kind}
      source={source}
      onWithoutExporter={exporter !== null && prometheus !== null ? () => setWithoutExporter(true) : null}
    />
  );
}

interface Props {
  source: RunSource;
  /** Offered when the exporter does not answer; null when there is no Prometheus. */
  onWithoutExporter: (() => void) | null;
}

function Runs({ source, onWithoutExporter }: Props) {
  const styles = useStyles2(getStyles);
  const { time } = usePage();
  const address = useAddress();
  const request = useMemo(() => runsRequest(address, time), [address, time]);
  const load = useCallback((signal: AbortSignal) => source.list(request, signal), [source, request]);
  const { data, error, loading, reload } = useLoaded(load);
  const histories = useHistories(source, request, data);
  const { search } = useLocation();
  const { rows, openIds, toggle } = useRows(source, data);
  const columns = useMemo(
    () => listColumns(rows, runColumn({ search, openIds, onToggle: toggle }), histories),
    [rows, search, openIds, toggle, histories]
  );
  const listed = useMemo(() => rows.filter(({ group }) => group === null).map(({ run }) => run), [rows]);
  const picked = usePickedRuns(data && listed);
  const onSort = (sort: Sort) => address.set({ sort: sortText(sort), page: null });
  const pages = Math.max(1, Math.ceil((data?.total ?? 0) / PAGE_LENGTH));
  return (
    <div className={styles.page}>
      {source.kind === 'prometheus' && <FromPrometheus />}
      <RunFilters source={source} address={address} />
      <div className={styles.loading}>{loading && data && <LoadingBar width={400} />}</div>
      {error && (
        <LoadProblem title={t('runs.problem', 'The runs could not be loaded')} error={error} onRetry={reload}>
          {source.kind === 'exporter' && onWithoutExporter && (
            <Button variant="secondary" size="sm" onClick={onWithoutExporter}>
              {t('runs.without-exporter', 'Show runs from Prometheus')}
            </Button>
          )}
        </LoadProblem>
      )}
      {loading && !data && <p role="status">{t('runs.loading', 'Loading runs …')}</p>}
      {data && data.runs.length === 0 && <NoRuns isFiltered={isFiltered(request)} onClear={() => clear(address.set)} />}
      {data && data.runs.length > 0 && (
        <>
          <div className={styles.bar}>
            <span role="status">{totalText(data, pages > 1)}</span>
            <LabeledSwitch
              label={t('runs.fold', 'Steps and repeats in one row')}
              value={isFolded(address)}
              onChange={(value) => address.set({ fold: value ? null : 'false', open: null, page: null })}
            />
            <PickedActions picked={picked.runs} search={search} onClear={picked.clear} />
          </div>
          <div className={styles.table}>
            <DataTable
              label={t('runs.table', 'Runs')}
              columns={columns}
              rows={rows}
              rowKey={rowKey}
              sort={sortOf(address)}
              onSort={onSort}
              stale={loading}
              selection={{
                chosen: picked.ids,
                onToggle: ({ run }) => picked.toggle(run),
                label: ({ run, group }) =>
                  group === null ? t('runs.pick', 'Select run {{run}}', { run: run.run_id }) : null,
              }}
            />
          </div>
          {pages > 1 && (
            <Pagination
              currentPage={pageOf(address)}
              numberOfPages={pages}
              onNavigate={(page) => address.set({ page: page === 1 ? null : String(page) })}
            />
          )}
        </>
      )}
    </div>
  );
}

function rowKey({ run, group }: RunRow): string {
  return group === null ? run.run_id : `group ${group.group_id}`;
}

/** Without the verdicts and objectives where no run has any, unless the list is ordered by them. */
function listColumns(rows: readonly ListRow[], first: Column<ListRow>, histories: Histories) {
  const columns = runColumns(first, histories);
  return rows.some(isJudged) ? columns : columns.filter(({ id }) => id !== 'verdict');
}

function FromPrometheus() {
  return (
    <Alert severity="info" title={t('runs.from-prometheus.title', 'Showing runs from Prometheus only')}>
      {t(
        'runs.from-prometheus.text',
        'The list contains runs in the time range, with the results that were published as metrics. Add the data source "llmbench runs" to see every run, its requests and its exact distributions.'
      )}
    </Alert>
  );
}

/** Histories use at most this many of the newest runs. */
const MAX_HISTORY_RUNS = 500;

/** Histories of the runs on a page, from these runs and from the newest ones once they are loaded. */
function useHistories(source: RunSource, request: RunsQuery, page: RunsResponse | undefined): Histories {
  const { scenario, model, system, tool } = request;
  // A list for a text: the members are new objects whenever the address changes.
  const key = JSON.stringify({ scenario, model, system, tool });
  const isMore = page !== undefined && page.total > page.runs.length;
  const load = useCallback(
    (signal: AbortSignal) =>
      source.list({ ...JSON.parse(key), status: ['completed'], limit: MAX_HISTORY_RUNS }, signal),
    [source, key]
  );
  const { data: more } = useLoaded(isMore ? load : null);
  return useMemo(() => {
    const runs = [...((isMore ? more?.runs : undefined) ?? []), ...(page?.runs ?? [])];
    return runHistories([...new Map(runs.map((run) => [run.run_id, run])).values()]);
  }, [isMore, more, page]);
}

function NoDataSource() {
  return (
    <EmptyState
      variant="call-to-action"
      message={t('runs.no-data-source', 'No data source with runs is configured')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('runs.to-setup', 'Set up')}</LinkButton>}
    >
      {t('runs.needs', 'Runs come from llmbench serve, or from a Prometheus server that scrapes it.')}
    </EmptyState>
  );
}

function NoRuns({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return isFiltered ? (
    <EmptyState
      variant="not-found"
      message={t('runs.none-fit', 'No runs match')}
      button={<Button onClick={onClear}>{t('runs.clear-filters', 'Clear filters')}</Button>}
    />
  ) : (
    <EmptyState
      variant="call-to-action"
      message={t('runs.none', 'No runs yet')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('runs.to-setup', 'Set up')}</LinkButton>}
    >
      {t(
        'runs.make-one',
        'Start one with: llmbench run --url http://localhost:8000 --model … --concurrency 8 --request-count 200'
      )}
    </EmptyState>
  );
}

interface PickedProps {
  picked: readonly RunSummary[];
  search: string;
  onClear: () => void;
}

function PickedActions({ picked, search, onClear }: PickedProps) {
  const styles = useStyles2(getStyles);
  const count = picked.length;
  return (
    <div className={styles.picked}>
      {count > 0 && (
        <Button variant="secondary" size="sm" fill="text" onClick={onClear}>
          {t('runs.unpick', 'Clear selection ({{count}})', { count })}
        </Button>
      )}
      {count < 2 ? (
        <Button
          size="sm"
          icon="layer-group"
          variant="secondary"
          disabled
          tooltip={t('runs.pick-two', 'Select two or more runs')}
        >
          {t('runs.compare', 'Compare')}
        </Button>
      ) : (
        <LinkButton size="sm" icon="layer-group" href={compareUrl(picked, search)}>
          {t('runs.compare', 'Compare')}
        </LinkButton>
      )}
    </div>
  );
}

/** The selected runs, kept in the URL; selecting runs sets the time range to theirs. */
function usePickedRuns(shown: readonly RunSummary[] | undefined) {
  const address = useAddress();
  const { setTime } = usePage();
  const [known, setKnown] = useState<ReadonlyMap<string, RunSummary>>(new Map());
  const [seen, setSeen] = useState<typeof shown>(undefined);
  if (shown && shown !== seen) {
    setSeen(shown);
    setKnown(new Map([...known, ...shown.map((run) => [run.run_id, run] as const)]));
  }
  const ids = useMemo(() => new Set(address.all('picked')), [address]);
  const runs = useMemo(() => [...ids].flatMap((id) => known.get(id) ?? []), [ids, known]);
  const toggle = (run: RunSummary) => {
    const next = ids.has(run.run_id) ? [...ids].filter((id) => id !== run.run_id) : [...ids, run.run_id];
    address.set({ picked: next });
    const time = timeOfRuns([...next.flatMap((id) => (id === run.run_id ? run : (known.get(id) ?? [])))]);
    // Where the time filters the list, other runs would disappear from it.
    if (time && address.one('inRange') !== 'true') {
      setTime(time);
    }
  };
  return { ids, runs, toggle, clear: () => address.set({ picked: null }) };
}

function isFiltered(request: ReturnType<typeof runsRequest>): boolean {
  const { sort: _sort, page: _page, limit: _limit, fold: _fold, ...filters } = request;
  return Object.keys(filters).length > 0;
}

function clear(set: ReturnType<typeof useAddress>['set']): void {
  const members = Object.fromEntries(FILTER_MEMBERS.map((member) => [member, null]));
  set({ ...members, q: null, inRange: null, page: null });
}

/** A folded list counts rows. */
function totalText({ total, groups }: RunsResponse, hasMorePages: boolean): string {
  const count = total.toLocaleString('en-US');
  if (groups !== undefined && (groups.length > 0 || hasMorePages)) {
    return total === 1
      ? t('runs.total-group', '1 group of runs')
      : t('runs.total-rows', '{{total}} runs and groups', { total: count });
  }
  return total === 1 ? t('runs.total-one', '1 run') : t('runs.total', '{{total}} runs', { total: count });
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), flex: 1 }),
  loading: css({ height: 1 }),
  bar: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(2), color: theme.colors.text.secondary }),
  picked: css({ marginLeft: 'auto', display: 'flex', gap: theme.spacing(1) }),
  table: css({
    background: theme.colors.background.primary,
    border: `1px solid ${theme.colors.border.weak}`,
    borderRadius: theme.shape.radius.default,
  }),
});
