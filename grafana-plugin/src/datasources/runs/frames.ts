import { FieldType, type Field, type FieldConfig, type DataFrame, type DataLink } from '@grafana/data';
import type { DistributionResponse, RequestMeasure, RecordsResponse } from '../../../../core/api/run-data.ts';
import type {
  AnnotationsResponse,
  Annotation,
  RunResponse,
  KeyNumbers,
  RunSummary,
} from '../../../../core/api/runs.ts';
import { shortTitle } from '../../../../core/measures/names.ts';
import type { MeasureResult } from '../../../../core/run/result.ts';
import type { Unit } from '../../../../core/run/statistic.ts';
import { PERCENTILE_NAMES } from '../../../../core/stats/percentiles.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import { t } from '../../text.ts';

/** Grafana's names of the units. */
export const GRAFANA_UNITS: Readonly<Record<Unit, string>> = {
  seconds: 's',
  tokens: 'short',
  ratio: 'percentunit',
  requests: 'short',
  requests_per_second: 'reqps',
  tokens_per_second: 'suffix: tokens/s',
  documents_per_second: 'suffix: documents/s',
  images: 'short',
  images_per_second: 'suffix: images/s',
  bytes: 'decbytes',
  joules: 'joule',
  watts: 'watt',
  joules_per_token: 'suffix: J/token',
  cost_per_million_tokens: 'suffix: per million tokens',
};

function field<T>(name: string, type: FieldType, values: readonly T[], config: FieldConfig = {}): Field<T> {
  return { name, type, values: [...values], config };
}

function text(name: string, values: ReadonlyArray<string | null>, config: FieldConfig = {}): Field {
  return field(name, FieldType.string, values, config);
}

function number(name: string, values: ReadonlyArray<number | null>, unit?: Unit): Field {
  return field(name, FieldType.number, values, unit ? { unit: GRAFANA_UNITS[unit] } : {});
}

/** Instants in RFC 3339; null where there is none. */
function time(name: string, values: ReadonlyArray<string | null>): Field {
  return field(
    name,
    FieldType.time,
    values.map((value) => (value === null ? null : Date.parse(value)))
  );
}

/** Runs, phases and stages as regions. What still lasts ends with the time range. */
export function annotationsFrame({ annotations }: AnnotationsResponse, rangeEndMs: number): DataFrame {
  const texts = (read: (one: Annotation) => string) => annotations.map(read);
  return {
    name: 'annotations',
    length: annotations.length,
    fields: [
      field(
        'time',
        FieldType.time,
        annotations.map(({ time }) => time)
      ),
      field(
        'timeEnd',
        FieldType.time,
        annotations.map(({ time, timeEnd }) => timeEnd ?? Math.max(time, rangeEndMs))
      ),
      text(
        'title',
        texts(({ title }) => title)
      ),
      text(
        'text',
        texts((one) => one.text)
      ),
      field(
        'tags',
        FieldType.other,
        annotations.map(({ tags }) => tags)
      ),
      text(
        'id',
        texts(({ id }) => id)
      ),
    ],
  };
}

/** The exact distribution: the share of values at or below each value. */
export function distributionFrame(response: DistributionResponse): DataFrame {
  const { run_id, measure, unit, n, between, values, share } = response;
  return {
    name: run_id,
    length: values.length,
    meta: {
      ...(between > 0 && {
        notices: [
          {
            severity: 'info' as const,
            text: t(
              'source.notice.distribution',
              '{{points}} points of {{n}} values: at most {{between}} lie between two adjacent points.',
              { points: values.length, n, between }
            ),
          },
        ],
      }),
    },
    fields: [number(measure, values, unit), { ...number('Share at most', share, 'ratio'), labels: { run_id } }],
  };
}

/** One row per measure of a finished run, in base units; a run that lasts has none yet. */
export function measuresFrame({ summary, result }: RunResponse): DataFrame {
  const measures = result?.measures ?? [];
  const texts = (read: (one: MeasureResult) => string) => measures.map(read);
  const statistic = (read: (one: MeasureResult & { kind: 'distribution' }) => number | null) =>
    measures.map((one) => (one.kind === 'distribution' ? read(one) : null));
  return {
    name: summary.run_id,
    length: measures.length,
    meta: { preferredVisualisationType: 'table' },
    fields: [
      text(
        'Run',
        measures.map(() => summary.run_id)
      ),
      text(
        'Measure',
        texts(({ measure }) => measure)
      ),
      text(
        'Clock',
        texts(({ clock }) => clock)
      ),
      text(
        'Population',
        texts(({ population }) => population)
      ),
      text(
        'Unit',
        texts(({ unit }) => unit)
      ),
      number(
        'Value',
        measures.map((one) => (one.kind === 'scalar' ? one.value : null))
      ),
      number(
        'n',
        statistic(({ n }) => n)
      ),
      number(
        'Mean',
        statistic(({ mean }) => mean)
      ),
      number(
        'Standard deviation',
        statistic(({ std }) => std)
      ),
      number(
        'Min',
        statistic(({ min }) => min)
      ),
      number(
        'Max',
        statistic(({ max }) => max)
      ),
      ...PERCENTILE_NAMES.map((name) =>
        number(
          name.replace('_', '.'),
          statistic(({ percentiles }) => percentiles[name].value)
        )
      ),
      text(
        'Definition',
        texts(({ definition }) => definition)
      ),
    ],
  };
}

/**
 * One row per request: when it was sent, and the value. Without a wall time of its own a run has seconds since its zero
 * instead of times.
 */
export function requestsFrame({ run_id, zero, sampled, columns }: RecordsResponse, value: RequestMeasure): DataFrame {
  const sent = (columns.sent_seconds ?? []) as Array<number | null>;
  const start = zero.start === null ? null : Date.parse(zero.start);
  const texts = (name: 'phase' | 'outcome' | 'reason') => (columns[name] ?? []) as Array<string | null>;
  const order = [...sent.keys()].sort((a, b) => (sent[a] ?? 0) - (sent[b] ?? 0));
  const sorted = <T>(values: readonly T[]): T[] => order.map((i) => values[i] as T);
  const values = (columns[value] ?? []) as Array<number | null>;
  return {
    name: run_id,
    length: sent.length,
    meta: {
      preferredVisualisationType: 'graph',
      ...(sampled.every > 1 && {
        notices: [
          {
            severity: 'info' as const,
            text: t('source.notice.requests', 'One request in {{every}} is shown: {{shown}} of {{of}}.', {
              ...sampled,
            }),
          },
        ],
      }),
    },
    fields: [
      start === null
        ? number('Seconds since the start', sorted(sent), 'seconds')
        : field(
            'Time',
            FieldType.time,
            sorted(sent).map((seconds) => (seconds === null ? null : start + seconds * 1000))
          ),
      {
        ...number(value, sorted(values), value.endsWith('_seconds') ? 'seconds' : 'tokens'),
        labels: { run_id },
      },
      text('outcome', sorted(texts('outcome'))),
      text('reason', sorted(texts('reason'))),
      text('phase', sorted(texts('phase'))),
    ],
  };
}

const RUN_PAGE: DataLink = { title: 'Open the run', url: `${pageUrl(ROUTES.runs)}/\${__value.raw}` };

/** One row per run, in the order given. */
export function runsFrame(runs: readonly RunSummary[]): DataFrame {
  const of = <T>(read: (numbers: KeyNumbers) => T) => runs.map(({ numbers }) => (numbers ? read(numbers) : null));
  return {
    name: 'runs',
    length: runs.length,
    meta: { preferredVisualisationType: 'table' },
    fields: [
      time(
        'Start',
        runs.map(({ start }) => start)
      ),
      text(
        'Run',
        runs.map(({ run_id }) => run_id),
        { links: [RUN_PAGE] }
      ),
      text(
        'Status',
        runs.map(({ status }) => status)
      ),
      text(
        'Scenario',
        runs.map(({ scenario }) => scenario)
      ),
      text(
        'Model',
        runs.map(({ model }) => model)
      ),
      text(
        'System',
        runs.map(({ system }) => system)
      ),
      text(
        'Load',
        runs.map(({ load }) => load)
      ),
      text(
        'Tool',
        runs.map(({ tool }) => tool)
      ),
      number(
        'Duration',
        runs.map(({ duration_seconds }) => duration_seconds),
        'seconds'
      ),
      number(
        'Ok requests',
        of(({ requests }) => requests.ok),
        'requests'
      ),
      number(
        shortTitle('time_to_first_token', 'p50'),
        of((numbers) => numbers.time_to_first_token_seconds?.p50 ?? null),
        'seconds'
      ),
      number(
        shortTitle('time_to_first_token', 'p99'),
        of((numbers) => numbers.time_to_first_token_seconds?.p99 ?? null),
        'seconds'
      ),
      number(
        shortTitle('inter_token_latency', 'p50'),
        of((numbers) => numbers.inter_token_latency_seconds?.p50 ?? null),
        'seconds'
      ),
      number(
        shortTitle('inter_token_latency', 'p99'),
        of((numbers) => numbers.inter_token_latency_seconds?.p99 ?? null),
        'seconds'
      ),
      number(
        'Requests per second',
        of((numbers) => numbers.request_throughput),
        'requests_per_second'
      ),
      number(
        'Output tokens per second',
        of((numbers) => numbers.output_token_throughput),
        'tokens_per_second'
      ),
      number(
        'Error ratio',
        of((numbers) => numbers.error_ratio),
        'ratio'
      ),
    ],
  };
}
