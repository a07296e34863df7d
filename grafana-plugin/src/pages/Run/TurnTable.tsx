import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2, useTheme2 } from '@grafana/ui';
import React from 'react';
import { shortTitle } from '../../../../core/measures/names.ts';
import { countOf, FAILED_OUTCOMES } from '../../../../core/run/record.ts';
import type { BreakdownResult, ResultFile } from '../../../../core/run/result.ts';
import { counted, quantity } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import { distributionOf, scalarOf } from '../../components/measure-name.ts';
import { t } from '../../text.ts';

/** What is shown of a result; without the counts of conversations, which Prometheus does not have. */
type Turns = Pick<ResultFile, 'breakdown' | 'conversations' | 'measures'>;

interface Props {
  result: Turns;
  /** What the figures are of; those of a finished run are exact. */
  note?: string;
}

/** First and later turns of conversations side by side, with their latencies as bars; nothing without conversations. */
export function TurnTable({ result, note = '' }: Props) {
  const turns = (result.breakdown ?? []).filter(({ by }) => by === 'turn');
  if (turns.length === 0) {
    return null;
  }
  return (
    <Section
      title={t('turns.title', 'Turns of conversations')}
      description={
        <>
          {t(
            'turns.description',
            'Bars begin at the median and end at p99. Pauses of users and tools are in no latency.'
          )}{' '}
          {note}
          {conversationsText(result)}
        </>
      }
    >
      <DataTable
        label={t('turns.table', 'Turns of conversations')}
        rows={turns}
        rowKey={({ value }) => value}
        columns={columns(turns)}
      />
    </Section>
  );
}

/** How many conversations there were, the mean duration of the complete ones, and the part of it with a request in flight. */
function conversationsText(result: Turns): string {
  if (result.conversations === undefined) {
    return '';
  }
  const { complete, incomplete } = result.conversations;
  const [duration, served] = ['conversation_duration', 'conversation_serving_time'].map((measure) =>
    quantity(distributionOf(result, measure)?.mean, 'seconds')
  );
  return t(
    'turns.conversations',
    'Conversations: {{complete}} complete, {{incomplete}} incomplete; mean duration {{duration}}, of which {{served}} with a request in flight.',
    { complete: counted(complete), incomplete: counted(incomplete), duration, served }
  );
}

const LATENCIES = ['time_to_first_token', 'inter_token_latency', 'request_latency'] as const;

function columns(turns: readonly BreakdownResult[]): Array<Column<BreakdownResult>> {
  const number = (id: string, header: string, render: (turn: BreakdownResult) => React.ReactNode) => ({
    id,
    header,
    align: 'right' as const,
    render,
  });
  const has = (measure: string) => turns.some(({ measures }) => measures.some((one) => one.measure === measure));
  return [
    { id: 'turn', header: t('turns.turn', 'Turn'), render: ({ value }) => value },
    number('ok', t('turns.ok', 'Ok'), ({ requests }) => counted(requests.ok)),
    number('failed', t('turns.failed', 'Failed'), ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    ...(has('input_sequence_length')
      ? [
          number('input', t('turns.input', 'Mean input'), (turn) =>
            quantity(distributionOf(turn, 'input_sequence_length')?.mean, 'tokens')
          ),
        ]
      : []),
    ...(has('cached_input_ratio')
      ? [
          number('cached', t('turns.cached', 'Cache hits'), (turn) =>
            quantity(scalarOf(turn, 'cached_input_ratio')?.value, 'ratio')
          ),
        ]
      : []),
    ...LATENCIES.map((measure) => {
      const most = Math.max(...turns.map((turn) => spanOf(turn, measure)?.[1] ?? 0));
      return {
        id: measure,
        header: t('turns.span', '{{measure}} p50 – p99', { measure: shortTitle(measure) }),
        render: (turn: BreakdownResult) => <Span span={spanOf(turn, measure)} most={most} />,
      };
    }),
  ];
}

function spanOf(turn: BreakdownResult, measure: string): [p50: number, p99: number] | null {
  const { p50, p99 } = distributionOf(turn, measure)?.percentiles ?? {};
  return p50?.value == null || p99?.value == null ? null : [p50.value, p99.value];
}

const WIDTH = 120;
const HEIGHT = 12;

/** A bar on an axis from 0 to the largest p99 of the column, with its ends in words. */
function Span({ span, most }: { span: [number, number] | null; most: number }) {
  const theme = useTheme2();
  const styles = useStyles2(getStyles);
  if (span === null) {
    return '–';
  }
  const [p50, p99] = span;
  const place = (seconds: number): number => (most === 0 ? 0 : (seconds / most) * WIDTH);
  const text = `${quantity(p50, 'seconds')} – ${quantity(p99, 'seconds')}`;
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      <svg
        className={styles.bar}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        <line x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} stroke={theme.colors.border.weak} />
        <rect
          x={place(p50)}
          width={Math.max(2, place(p99) - place(p50))}
          height={HEIGHT - 3}
          fill={theme.visualization.getColorByName('blue')}
        />
      </svg>
      {text}
    </span>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  bar: css({
    width: WIDTH,
    height: HEIGHT,
    marginRight: theme.spacing(1),
    // On narrow tables the numbers take precedence.
    '@container (max-width: 1000px)': { width: WIDTH / 3 },
  }),
});
