import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Badge, Combobox, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React from 'react';
import { quantileBounds } from '../../../../core/histogram/bounds.ts';
import { histogramQuantile } from '../../../../core/histogram/quantile.ts';
import { ABSENT, counted, quantity } from '../../../../core/text/quantities.ts';
import type { ResultFile, ServersResult } from '../../../../core/run/result.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import type { Loaded } from '../../hooks/useLoaded.ts';
import { distributionOf, measureName } from '../../components/measure-name.ts';
import {
  judgePercentile,
  type Agreement,
  type Interval,
  type Compared,
  type CountsByQuantity,
} from './server-histograms.ts';
import { Named } from '../../components/Named.tsx';
import { t } from '../../text.ts';

/** The client's measures and what servers call the same; both have one value per request. */
const PAIRS: ReadonlyArray<[measure: string, quantity: Compared]> = [
  ['time_to_first_token', 'time_to_first_token'],
  ['inter_token_latency', 'time_per_output_token'],
  ['request_latency', 'request_latency'],
];
const PERCENTILES = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
] as const;
const DEFAULT_ALLOWANCE_MS = 5;

interface Row {
  key: string;
  measure: string;
  percentile: string;
  client: number | null;
  estimate: number | null;
  interval: Interval | null;
  narrowed: boolean;
  agreement: Agreement;
  family: string;
  count: string;
}

interface Props {
  result: ResultFile;
  counts: Loaded<CountsByQuantity>;
}

/** The client's exact percentiles next to the server's intervals, and whether the two agree. */
export function ClientAndServer({ result, counts }: Props) {
  const styles = useStyles2(getStyles);
  const address = useAddress();
  const chosen = address.one('allowance');
  const allowance = allowanceOf(result, chosen);
  const rows = counts.data ? percentileRows(result, counts.data, allowance.seconds) : [];
  const { servers } = result;
  const exactness = isCollected(servers) ? exactnessText(servers) : null;
  return (
    <Section
      title={t('compare.title', 'Client and server')}
      description={t(
        'compare.description',
        'Client percentiles are exact. Servers expose buckets, so a server percentile is an interval, narrowed by the sum of the values where possible (Σ). Agrees: the client value lies in the interval, or above it by at most the network allowance. An interval wider than half of the client value is too coarse to compare.'
      )}
      actions={
        <label className={styles.allowance}>
          {t('compare.allowance', 'Network allowance')}
          <Named label={t('compare.allowance', 'Network allowance')}>
            {(named) => (
              <Combobox
                options={allowanceOptions(result)}
                value={chosen ?? ''}
                onChange={({ value }) => address.set({ allowance: value === '' ? null : value })}
                width={22}
                aria-labelledby={named}
              />
            )}
          </Named>
        </label>
      }
    >
      {counts.error && (
        <LoadProblem
          title={t('compare.problem', 'The server metrics could not be loaded')}
          error={counts.error}
          onRetry={counts.reload}
        />
      )}
      {counts.loading && !counts.data && <LoadingPlaceholder text="" />}
      {!counts.loading && !counts.error && rows.length === 0 && (
        <p>{t('compare.none', 'No server of this run exposes a histogram of these measures.')}</p>
      )}
      {rows.length > 0 && (
        <DataTable
          label={t('compare.table', 'Client and server percentiles')}
          columns={columns(hasSeveralFamilies(rows))}
          rows={rows}
          rowKey={({ key }) => key}
        />
      )}
      {rows.length > 0 && <p className={styles.note}>{allowanceText(allowance)}</p>}
      {exactness && <p className={styles.note}>{exactness}</p>}
    </Section>
  );
}

/** True when a measure is compared with more than one family: then each row says with which. */
function hasSeveralFamilies(rows: readonly Row[]): boolean {
  return (
    new Set(rows.map(({ measure, family }) => `${measure} ${family}`)).size >
    new Set(rows.map(({ measure }) => measure)).size
  );
}

function columns(severalFamilies: boolean): Array<Column<Row>> {
  return [
    {
      id: 'measure',
      header: t('compare.measure', 'Measure'),
      render: ({ measure, percentile }) => `${measureName(measure)} ${percentile}`,
      ...(severalFamilies && {
        below: { id: 'family', header: t('compare.family', 'Family'), render: ({ family }: Row) => family },
      }),
    },
    {
      id: 'client',
      header: t('compare.client', 'Client, exact'),
      align: 'right',
      render: ({ client }) => quantity(client, 'seconds'),
    },
    {
      id: 'server',
      header: t('compare.server', 'Server, interval'),
      meaning: t('compare.server-meaning', 'The percentile is certain to lie in this interval'),
      align: 'right',
      render: ({ interval, narrowed }) => (
        <span title={narrowed ? t('compare.narrowed', 'Narrowed by the sum of the values') : undefined}>
          {intervalText(interval)}
          {narrowed && ' Σ'}
        </span>
      ),
    },
    {
      id: 'estimate',
      header: t('compare.estimate', 'Prometheus estimate'),
      meaning: t('compare.estimate-meaning', 'histogram_quantile over the same counts'),
      align: 'right',
      render: ({ estimate }) => quantity(estimate, 'seconds'),
    },
    {
      id: 'agreement',
      header: t('compare.agreement', 'Agreement'),
      render: ({ agreement }) => <AgreementBadge agreement={agreement} />,
    },
    {
      id: 'count',
      header: 'n',
      meaning: t('compare.count-meaning', 'Requests counted by the client and by the server'),
      align: 'right',
      render: ({ count, family }) => <span title={family}>{count}</span>,
    },
  ];
}

interface Allowance {
  seconds: number;
  source: 'chosen' | 'measured' | 'assumed';
}

/**
 * What the network may add to the client's value: as chosen, else the shortest round trip that the run measured, else 5 ms.
 * Longer round trips include what delayed the client.
 */
export function allowanceOf({ network }: ResultFile, chosen: string | null): Allowance {
  if (chosen !== null && Number.isFinite(Number(chosen))) {
    return { seconds: Number(chosen) / 1000, source: 'chosen' };
  }
  return network === undefined
    ? { seconds: DEFAULT_ALLOWANCE_MS / 1000, source: 'assumed' }
    : { seconds: network.min_seconds, source: 'measured' };
}

function allowanceOptions(result: ResultFile): Array<{ value: string; label: string }> {
  const { seconds, source } = allowanceOf(result, null);
  const usual = quantity(seconds, 'seconds');
  const label =
    source === 'measured'
      ? t('compare.allowance-measured', '{{usual}} (measured)', { usual })
      : t('compare.allowance-assumed', '{{usual}} (assumed)', { usual });
  return [{ value: '', label }, ...['0', '1', '5', '20', '100'].map((ms) => ({ value: ms, label: `${ms} ms` }))];
}

function allowanceText({ seconds, source }: Allowance): string {
  const allowance = quantity(seconds, 'seconds');
  switch (source) {
    case 'measured':
      return t(
        'compare.uses-measured',
        'Network allowance: {{allowance}}, the shortest round trip of this run, by TCP handshakes and the fastest response.',
        { allowance }
      );
    case 'assumed':
      return t(
        'compare.uses-assumed',
        'Network allowance: {{allowance}}, assumed, because the run measured no round trip.',
        { allowance }
      );
    case 'chosen':
      return t('compare.uses-chosen', 'Network allowance: {{allowance}}, as chosen.', { allowance });
  }
}

export function percentileRows(result: ResultFile, counts: CountsByQuantity, allowanceSeconds: number): Row[] {
  return PAIRS.flatMap(([measure, name]) => {
    const client = distributionOf(result, measure);
    // Responses that were not streamed have no value of this measure, so there is nothing to compare.
    if (client?.n === 0) {
      return [];
    }
    return counts[name].flatMap((server, i) =>
      PERCENTILES.map(([percentile, q]): Row => {
        const bounds = quantileBounds(q, server.histogram, { useSum: server.sumIsSound });
        const value = client?.percentiles[percentile].value ?? null;
        return {
          key: `${measure} ${percentile} ${i}`,
          measure,
          percentile,
          client: value,
          estimate: histogramQuantile(q, server.histogram),
          interval: bounds,
          narrowed: bounds?.narrowedBySum ?? false,
          agreement: isInexact(result, server.family) ? 'unknown' : judgePercentile(value, bounds, allowanceSeconds),
          family: server.family,
          count:
            client?.n === server.count ? counted(server.count) : `${counted(client?.n)} / ${counted(server.count)}`,
        };
      })
    );
  });
}

/** Whether a family also counted other requests, for which alone its percentiles may differ. */
function isInexact({ servers }: ResultFile, family: string): boolean {
  const inexact = servers?.inexact_families ?? [];
  return servers?.exact === false || inexact.some((each) => each.family === family);
}

function AgreementBadge({ agreement }: { agreement: Agreement }) {
  switch (agreement) {
    case 'agrees':
      return <Badge text={t('compare.agrees', 'agrees')} color="green" />;
    case 'differs':
      return <Badge text={t('compare.differs', 'differs')} color="orange" />;
    case 'unresolved':
      return <>{t('compare.unresolved', 'cannot be resolved by these buckets')}</>;
    case 'unknown':
      return <>{ABSENT}</>;
  }
}

function intervalText(interval: Interval | null): string {
  if (interval === null) {
    return ABSENT;
  }
  const low = quantity(interval.low, 'seconds');
  return interval.high === Infinity ? `> ${low}` : `${low} – ${quantity(interval.high, 'seconds')}`;
}

/** Earlier exporters have an empty object where nothing was collected. */
function isCollected(servers: ResultFile['servers']): servers is ServersResult {
  return servers !== null && Object.keys(servers).length > 0;
}

function exactnessText({ exact, why, requests }: ServersResult): string {
  if (exact === true && requests?.cool_down) {
    return t(
      'compare.exact-with-cool-down',
      'The servers counted exactly the requests of this run, {{n}} of them in the cool-down, which the client’s measures leave out.',
      { n: counted(requests.cool_down) }
    );
  }
  if (exact === true) {
    return t('compare.exact', 'The servers counted exactly the requests of this run.');
  }
  if (exact === null) {
    return t('compare.exactness-unknown', 'It is unknown whether the servers counted only the requests of this run.');
  }
  return why === null
    ? t('compare.not-exact', 'The server counts are not exactly those of this run.')
    : `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
}

const getStyles = (theme: GrafanaTheme2) => ({
  allowance: css({
    ...theme.typography.bodySmall,
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    color: theme.colors.text.secondary,
  }),
  note: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(1, 0, 0) }),
});
