import type { DataFrame, DataLink } from '@grafana/data';
import { pageUrl, ROUTES } from '../../../constants/routes.ts';
import { shortTitle } from '../../../../../core/measures/names.ts';
import type { KeyNumbers, RunSummary } from '../../../../../core/api/runs.ts';
import { number, text, time } from './field.ts';

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
