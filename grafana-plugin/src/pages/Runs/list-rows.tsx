import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { Icon, TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import type { RunGroup, RunsResponse, RunSummary } from '../../../../core/api/runs.ts';
import type { Column } from '../../components/DataTable.tsx';
import { type RunRow, Short } from '../../components/run-columns.tsx';
import { runUrl } from '../../components/run-link.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { RunSource } from '../../runs/run-source.ts';
import { t } from '../../text.ts';

/** A row of the list; the runs of an open group follow its row. */
export interface ListRow extends RunRow {
  isMember: boolean;
}

/** The exporter's limit of one response. */
const MAX_MEMBERS = 1000;

/** The rows of a page of the list. Which groups are open is in the URL; their runs are loaded when they are opened. */
export function useRows(source: RunSource, page: RunsResponse | undefined) {
  const address = useAddress();
  const open = address.all('open').join('\n');
  const groups = useMemo(() => new Map(page?.groups?.map((group) => [group.group_id, group])), [page]);
  const load = useCallback(
    async (signal: AbortSignal) =>
      (await source.list({ group: open.split('\n'), sort: 'start', limit: MAX_MEMBERS }, signal)).runs,
    [source, open]
  );
  const { data: members } = useLoaded(open === '' ? null : load);
  const openIds = useMemo(() => new Set(open === '' ? [] : open.split('\n')), [open]);
  const rows = useMemo(
    () =>
      (page?.runs ?? []).flatMap((run): ListRow[] => {
        const group = groups.get(run.group_id ?? '') ?? null;
        const isOpen = group !== null && openIds.has(group.group_id);
        return [
          { run, group, isMember: false },
          ...(isOpen ? inSteps(members ?? [], group).map((one) => ({ run: one, group: null, isMember: true })) : []),
        ];
      }),
    [page, groups, members, openIds]
  );
  const toggle = useCallback(
    (id: string) => {
      const ids = address.all('open');
      address.set({ open: ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id] });
    },
    [address]
  );
  return { rows, openIds, toggle };
}

function inSteps(runs: readonly RunSummary[], { group_id }: RunGroup): RunSummary[] {
  return runs
    .filter((run) => run.group_id === group_id)
    .sort((a, b) => (a.step ?? 0) - (b.step ?? 0) || (a.repeat ?? 0) - (b.repeat ?? 0));
}

interface FirstColumnProps {
  search: string;
  openIds: ReadonlySet<string>;
  onToggle: (groupId: string) => void;
}

/** Start and scenario of a run with a link to it; of a group, the button that opens it. */
export function runColumn({ search, openIds, onToggle }: FirstColumnProps): Column<ListRow> {
  return {
    id: 'start',
    header: t('runs.column.run', 'Run'),
    meaning: t('runs.column.run-meaning', 'Sorted by start time'),
    sortable: true,
    render: ({ run, group, isMember }) =>
      group === null ? (
        <Indented by={isMember}>
          <TextLink href={runUrl(run, search)} inline={false} variant="bodySmall">
            {run.start === null ? run.run_id : dateTimeFormat(run.start)}
          </TextLink>
        </Indented>
      ) : (
        <GroupButton run={run} group={group} isOpen={openIds.has(group.group_id)} onToggle={onToggle} />
      ),
    below: {
      id: 'scenario',
      header: t('runs.column.scenario', 'Scenario'),
      sortable: true,
      render: ({ run, group, isMember }) => (
        <Indented by={isMember || group !== null}>
          <Short text={isMember ? stepText(run) : run.scenario} />
        </Indented>
      ),
    },
  };
}

function stepText({ step, repeat }: RunSummary): string {
  return [
    step === null ? '' : t('runs.step', 'step {{step}}', { step }),
    repeat === null ? '' : t('runs.repeat', 'repeat {{repeat}}', { repeat }),
  ]
    .filter(Boolean)
    .join(', ');
}

interface GroupButtonProps {
  run: RunSummary;
  group: RunGroup;
  isOpen: boolean;
  onToggle: (groupId: string) => void;
}

function GroupButton({ run, group, isOpen, onToggle }: GroupButtonProps) {
  const styles = useStyles2(getStyles);
  const { group_id, runs: count } = group;
  return (
    <button
      type="button"
      className={styles.group}
      aria-expanded={isOpen}
      aria-label={t('runs.group-open', '{{runs}} runs of {{scenario}}', { runs: count, scenario: run.scenario })}
      onClick={() => onToggle(group_id)}
    >
      <Icon name={isOpen ? 'angle-down' : 'angle-right'} />
      {run.start === null ? group_id : dateTimeFormat(run.start)}
      <span className={styles.count}>{t('runs.group-count', '{{runs}} runs', { runs: count })}</span>
    </button>
  );
}

function Indented({ by, children }: { by: boolean; children: React.ReactNode }) {
  const styles = useStyles2(getStyles);
  return <div className={by ? styles.indented : undefined}>{children}</div>;
}

const getStyles = (theme: GrafanaTheme2) => ({
  indented: css({ paddingLeft: theme.spacing(2.5) }),
  group: css({
    display: 'inline-flex',
    alignItems: 'center',
    gap: theme.spacing(0.5),
    background: 'none',
    border: 'none',
    padding: 0,
    font: 'inherit',
    color: 'inherit',
    '&:hover': { color: theme.colors.text.maxContrast },
    '&:focus-visible': { outline: `2px solid ${theme.colors.primary.main}`, outlineOffset: 2 },
  }),
  count: css({ color: theme.colors.text.secondary }),
});
