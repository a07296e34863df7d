import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React from 'react';
import { coolDownCount } from '../../../../core/run/record.ts';
import type { DistributionResult, ResultFile } from '../../../../core/run/result.ts';
import { counted, quantity } from '../../../../core/text/quantities.ts';
import { paletteColor } from '../../charts/chart-style.ts';
import { Section } from '../../components/Section.tsx';
import { distributionOf } from '../../components/measure-name.ts';
import type { Loaded } from '../../hooks/useLoaded.ts';
import { meanOf, type MeanAndCount, type CountsByQuantity } from './server-histograms.ts';
import { t } from '../../text.ts';

/** A part of the mean time to first token. */
interface TimePart {
  id: 'queue' | 'prefill' | 'server' | 'outside';
  seconds: number;
}

export interface TimeSplit {
  parts: TimePart[];
  totalSeconds: number;
  /** False: the servers' means are over other requests too, and together exceed the client's, so they are no parts of it. */
  addsUp: boolean;
  /**
   * Requests that the server counted beyond the client's; with others than 0 the means are not over the same requests.
   * Null when a count is unknown.
   */
  countMismatch: number | null;
}

interface SplitInput {
  client: MeanAndCount | null;
  queue: MeanAndCount | null;
  prefill: MeanAndCount | null;
  /** The server's own time to first token, for systems that do not expose the prefill time. */
  serverTtft: MeanAndCount | null;
}

/**
 * Where the mean time to first token goes. Means add up exactly over equal requests: client = queue + prefill + outside
 * of the engine (network, API server, tokenizer). Where the prefill time is not exposed, the rest of the server's own time
 * is used. Null when the client or every server part is missing.
 */
export function timeSplit({ client, queue, prefill, serverTtft }: SplitInput): TimeSplit | null {
  if (client?.mean === null || client === null) {
    return null;
  }
  const parts: TimePart[] = [];
  if (queue?.mean !== null && queue !== null) {
    parts.push({ id: 'queue', seconds: queue.mean });
  }
  if (prefill?.mean !== null && prefill !== null) {
    parts.push({ id: 'prefill', seconds: prefill.mean });
  } else if (serverTtft?.mean !== null && serverTtft !== null) {
    parts.push({ id: 'server', seconds: serverTtft.mean - (queue?.mean ?? 0) });
  }
  if (parts.length === 0) {
    return null;
  }
  const inside = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const differences = [queue, prefill ?? serverTtft].flatMap((one) =>
    one ? [difference(one.count, client.count)] : []
  );
  const countMismatch = differences.includes(null) ? null : largest(differences.filter((one) => one !== null));
  return {
    parts: [...parts, { id: 'outside', seconds: client.mean - inside }],
    totalSeconds: client.mean,
    addsUp: countMismatch === 0 || inside <= client.mean,
    countMismatch,
  };
}

function difference(server: number | null, client: number | null): number | null {
  return server === null || client === null ? null : server - client;
}

function largest(differences: readonly number[]): number {
  return differences.reduce((worst, one) => (Math.abs(one) > Math.abs(worst) ? one : worst), 0);
}

interface Props {
  result: ResultFile;
  counts: Loaded<CountsByQuantity>;
}

/** The parts of the mean time to first token. */
export function WhereTimeGoes({ result, counts: { data, loading } }: Props) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const ttft = distributionOf(result, 'time_to_first_token');
  const split =
    data &&
    timeSplit({
      client: ttft && { mean: ttft.mean, count: ttft.n },
      queue: meanOf(data.queue_time),
      prefill: meanOf(data.prefill_time),
      serverTtft: meanOf(data.time_to_first_token),
    });
  const longest = Math.max(...(split?.parts ?? []).map(({ seconds }) => Math.abs(seconds)), 1e-9);
  return (
    <Section
      title={t('time.title', 'Where the time goes')}
      description={t(
        'time.description',
        'Means are additive: the client’s mean time to first token = queue + prefill + time outside the engine (network, API server, tokenizer).'
      )}
    >
      {split?.addsUp ? (
        <>
          <table className={styles.table}>
            <tbody>
              {split.parts.map(({ id, seconds }, i) => (
                <tr key={id}>
                  <th scope="row">{partName(id)}</th>
                  <td className={styles.barCell}>
                    <div
                      className={styles.bar}
                      style={{
                        width: `${(Math.max(0, seconds) / longest) * 100}%`,
                        background: paletteColor(theme, i),
                      }}
                    />
                  </td>
                  <td>{quantity(seconds, 'seconds')}</td>
                  <td>{quantity(seconds / split.totalSeconds, 'ratio')}</td>
                </tr>
              ))}
              <tr>
                <th scope="row">{t('time.total', 'Client, mean')}</th>
                <td />
                <td>{quantity(split.totalSeconds, 'seconds')}</td>
                <td />
              </tr>
            </tbody>
          </table>
          <p className={styles.note}>
            {split.countMismatch === null
              ? t('time.unknown', 'The number of requests behind the client’s mean is not reported.')
              : split.countMismatch === 0
                ? t('time.equal', 'Client and server means cover the same number of requests.')
                : split.countMismatch === coolDownCount(result.cool_down)
                  ? t('time.cool-down', 'The server means also cover the {{n}} requests of the cool-down.', {
                      n: counted(split.countMismatch),
                    })
                  : t(
                      'time.unequal',
                      'The server count differs from the client count by {{difference}} requests: the parts cover different requests.',
                      { difference: `${split.countMismatch > 0 ? '+' : '−'}${Math.abs(split.countMismatch)}` }
                    )}
          </p>
        </>
      ) : (
        !loading && <p>{noSplitText(ttft, split ?? null)}</p>
      )}
    </Section>
  );
}

/** Why the time is not split. */
function noSplitText(ttft: DistributionResult | null, split: TimeSplit | null): string {
  if (ttft?.n === 0) {
    return t('time.no-ttft', 'The responses were not streamed: there is no time to first token to split.');
  }
  return split === null
    ? t('time.none', 'No server of this run exposes its queue or prefill time.')
    : t('time.others', 'The servers’ means also cover other requests, and together exceed the mean of the client.');
}

function partName(id: TimePart['id']): string {
  switch (id) {
    case 'queue':
      return t('time.queue', 'Server: queue');
    case 'prefill':
      return t('time.prefill', 'Server: prefill');
    case 'server':
      return t('time.server', 'Server: other');
    case 'outside':
      return t('time.outside', 'Outside the engine');
  }
}

const getStyles = (theme: GrafanaTheme2) => ({
  table: css({
    width: '100%',
    fontSize: theme.typography.bodySmall.fontSize,
    fontVariantNumeric: 'tabular-nums',
    'th, td': { padding: theme.spacing(0.75, 1), whiteSpace: 'nowrap', textAlign: 'right' },
    th: { textAlign: 'left', fontWeight: theme.typography.fontWeightRegular },
    'tr:last-child': { borderTop: `1px solid ${theme.colors.border.medium}` },
  }),
  barCell: css({ width: '60%' }),
  bar: css({ height: 16, minWidth: 1, borderRadius: theme.shape.radius.default }),
  note: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(1, 0, 0) }),
});
