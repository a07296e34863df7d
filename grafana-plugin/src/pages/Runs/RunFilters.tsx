import { dateTime, type TimeRange } from '@grafana/data';
import { FilterInput, MultiCombobox, Stack, TimeRangeInput } from '@grafana/ui';
import React, { useCallback, useEffect, useState } from 'react';
import type { RunsQuery } from '../../../../core/api/runs.ts';
import type { Sort } from '../../components/DataTable.tsx';
import { Named } from '../../components/Named.tsx';
import { usePage } from '../../hooks/page-context.ts';
import type { Address } from '../../hooks/useAddress.ts';
import type { TimeSpan } from '../../prometheus/query-prometheus.ts';
import { FILTER_MEMBERS, type FilterMember, type RunSource } from '../../runs/run-source.ts';
import { t } from '../../text.ts';

interface Props {
  source: RunSource;
  address: Address;
}

const TYPING_MS = 300;

/** The filters of the list, kept in the URL. */
export function RunFilters({ source, address }: Props) {
  return (
    <Stack direction="row" wrap="wrap" gap={1} alignItems="center">
      <TextFilter address={address} />
      {filtersOf(source).map((member) => (
        <MemberFilter key={member} member={member} source={source} address={address} />
      ))}
      <TimeFilter address={address} />
    </Stack>
  );
}

/** Only runs of a time; any time unless one is chosen. */
function TimeFilter({ address }: { address: Address }) {
  const { timeRange, setTime } = usePage();
  const isOn = address.one('inRange') === 'true';
  const none = { from: dateTime(null), to: dateTime(null) };
  const onChange = (chosen: TimeRange) => {
    const isChosen = chosen.from.isValid() && chosen.to.isValid();
    address.set({ inRange: isChosen ? 'true' : null, page: null });
    if (isChosen) {
      setTime(chosen);
    }
  };
  return (
    <Named label={t('runs.filter.time', 'Time of the runs')}>
      {(named) => (
        <div role="group" aria-labelledby={named}>
          <TimeRangeInput
            value={isOn ? timeRange : { ...none, raw: none }}
            onChange={onChange}
            clearable
            placeholder={t('runs.filter.any-time', 'Any time')}
          />
        </div>
      )}
    </Named>
  );
}

function TextFilter({ address }: { address: Address }) {
  const given = address.one('q') ?? '';
  const [text, setText] = useState(given);
  const [seen, setSeen] = useState(given);
  if (seen !== given) {
    setSeen(given);
    setText(given);
  }
  useEffect(() => {
    if (text === given) {
      return undefined;
    }
    const timer = setTimeout(() => address.set({ q: text, page: null }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, given, address]);
  const label = t('runs.filter.text', 'Search runs');
  return <FilterInput value={text} onChange={setText} placeholder={label} aria-label={label} width={26} />;
}

interface MemberProps extends Props {
  member: FilterMember;
}

function MemberFilter({ member, source, address }: MemberProps) {
  const options = useCallback(
    async (text: string) => {
      const values = await source.values(member);
      return values
        .filter((value) => value.toLowerCase().includes(text.toLowerCase()))
        .map((value) => ({ value, label: value === '' ? t('runs.filter.unknown', 'unknown') : value }));
    },
    [source, member]
  );
  const label = memberLabel(member);
  return (
    <Named label={label}>
      {(named) => (
        <MultiCombobox
          options={options}
          value={address.all(member)}
          onChange={(chosen) => address.set({ [member]: chosen.map(({ value }) => value), page: null })}
          placeholder={label}
          aria-labelledby={named}
          isClearable
          width="auto"
          minWidth={14}
          maxWidth={40}
        />
      )}
    </Named>
  );
}

/** Prometheus has verdicts per scenario only. */
function filtersOf({ kind }: RunSource): readonly FilterMember[] {
  return kind === 'exporter' ? FILTER_MEMBERS : FILTER_MEMBERS.filter((member) => member !== 'verdict');
}

function memberLabel(member: FilterMember): string {
  switch (member) {
    case 'scenario':
      return t('runs.filter.scenario', 'Scenario');
    case 'model':
      return t('runs.filter.model', 'Model');
    case 'system':
      return t('runs.filter.system', 'System');
    case 'tool':
      return t('runs.filter.tool', 'Tool');
    case 'status':
      return t('runs.filter.status', 'Status');
    case 'verdict':
      return t('runs.filter.verdict', 'Verdict');
  }
}

export const PAGE_LENGTH = 50;

/** The request for runs that the URL describes. */
export function runsRequest(address: Address, time: TimeSpan): RunsQuery {
  const members = FILTER_MEMBERS.flatMap((name) => {
    const values = address.all(name);
    return values.length > 0 ? [[name, values]] : [];
  });
  return {
    ...Object.fromEntries(members),
    ...(address.one('q') && { q: address.one('q') ?? '' }),
    ...(address.one('inRange') === 'true' && time),
    sort: sortText(sortOf(address)),
    ...(isFolded(address) && { fold: 'true' as const }),
    page: pageOf(address),
    limit: PAGE_LENGTH,
  };
}

/** Whether the runs of a group are one row, as they are unless the URL says otherwise. */
export function isFolded(address: Address): boolean {
  return address.one('fold') !== 'false';
}

export function sortOf(address: Address): Sort {
  const text = address.one('sort') ?? '-start';
  return { id: text.replace(/^-/, ''), descending: text.startsWith('-') };
}

export function sortText({ id, descending }: Sort): string {
  return `${descending ? '-' : ''}${id}`;
}

export function pageOf(address: Address): number {
  const page = Number(address.one('page') ?? 1);
  return Number.isInteger(page) && page > 0 ? page : 1;
}
