import type { Address } from '../../hooks/useAddress.ts';
import type { Sort } from '../../components/DataTable.tsx';
import type { RunsQuery } from '../../../../core/api/runs.ts';
import type { TimeSpan } from '../../prometheus/query-prometheus.ts';
import { FILTER_MEMBERS } from '../../runs/run-source.ts';

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
