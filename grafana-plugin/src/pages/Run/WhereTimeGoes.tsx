import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import type { FirstTokenTimeResponse } from '../../../../core/api/run-data.ts';
import { FIRST_TOKEN_PARTS, type FirstTokenPart } from '../../../../core/measures/first-token-time.ts';
import type { ResultFile } from '../../../../core/run/result.ts';
import { quantity } from '../../../../core/text/quantities.ts';
import { paletteColor } from '../../charts/chart-style.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { distributionOf } from '../../components/measure-name.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { t } from '../../text.ts';

interface Props {
  result: ResultFile;
  exporter: ExporterApi;
  hasServers: boolean;
}

/** The parts of the mean time to first token as one bar. */
export function WhereTimeGoes({ result, exporter, hasServers }: Props) {
  const styles = useStyles2(getStyles);
  const load = useCallback(
    (signal: AbortSignal) => exporter.firstTokenTime(result.run_id, signal),
    [exporter, result.run_id]
  );
  const { data, loading, error, reload } = useLoaded<FirstTokenTimeResponse>(hasServers ? load : null);
  const time = data?.first_token_time ?? null;
  return (
    <Section
      title={t('time.title', 'Where the time goes')}
      description={t(
        'time.description',
        'Means over the same requests add up: the client’s mean time to first token = the parts that the servers observe + what they do not explain + time outside of them.'
      )}
    >
      {error && (
        <LoadProblem
          title={t('time.problem', 'The parts of the time to first token could not be loaded')}
          error={error}
          onRetry={reload}
        />
      )}
      {time?.parts && <Parts parts={time.parts} />}
      {time?.notes.map((note) => (
        <p key={note} className={styles.note}>
          {note}
        </p>
      ))}
      {time === null && !loading && !error && <p>{noPartsText(result)}</p>}
    </Section>
  );
}

function Parts({ parts }: { parts: readonly FirstTokenPart[] }) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const whole = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const background = (i: number) => ({ background: paletteColor(theme, i) });
  return (
    <>
      <div className={styles.bar}>
        {parts.map(({ part, seconds }, i) => (
          <div
            key={part}
            className={styles.segment}
            title={FIRST_TOKEN_PARTS[part]}
            style={{ width: `${(seconds / whole) * 100}%`, ...background(i) }}
          />
        ))}
      </div>
      <table className={styles.table}>
        <tbody>
          {parts.map(({ part, seconds, families }, i) => (
            <tr key={part} title={families.join(', ')}>
              <th scope="row">
                <span className={styles.color} style={background(i)} />
                {FIRST_TOKEN_PARTS[part]}
              </th>
              <td>{quantity(seconds, 'seconds')}</td>
              <td>{quantity(seconds / whole, 'ratio')}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t('time.total', 'Together')}</th>
            <td>{quantity(whole, 'seconds')}</td>
            <td />
          </tr>
        </tbody>
      </table>
    </>
  );
}

/** Why the time is not divided. */
function noPartsText(result: ResultFile): string {
  return distributionOf(result, 'time_to_first_token')?.n === 0
    ? t('time.no-ttft', 'The responses were not streamed: there is no time to first token to split.')
    : t('time.none', 'No server of this run exposes parts of its time to first token.');
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
  bar: css({ display: 'flex', height: 20, overflow: 'hidden', borderRadius: theme.shape.radius.default }),
  segment: css({ minWidth: 1 }),
  color: css({ display: 'inline-block', width: 10, height: 10, marginRight: theme.spacing(1) }),
  note: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(1, 0, 0) }),
});
