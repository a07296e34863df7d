import { shortTitle } from '../../../core/measures/names.ts';
import { objectiveWords } from '../../../core/objectives/grammar.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/record.ts';
import type { SweepFigure, SweepEnd } from '../../../core/sweeps/sweep-figures.ts';
import { withinText, sweepNames } from '../../../core/sweeps/sweep-names.ts';
import type { Sweep, SweepStep } from '../../../core/sweeps/sweep-shape.ts';
import { ABSENT, counted, quantity, significant } from '../../../core/text/quantities.ts';
import { columnBlocks, type TableColumn } from './layout.ts';
import { OBJECTIVE_VERDICTS } from './result-table.ts';

/** The latencies of the table, and their percentiles. */
const LATENCIES = ['time_to_first_token', 'inter_token_latency'] as const;
const PERCENTILES = ['p50', 'p99'] as const;

/**
 * One row per load of each sweep, for a terminal. A table that is wider than `width` continues in a second one below, so
 * that nothing is left out.
 */
export function sweepTable(sweeps: readonly Sweep[], width = Infinity): string {
  const names = sweepNames(sweeps);
  return sweeps
    .map((sweep, i) => [
      ...(sweeps.length > 1 ? [names[i] ?? ''] : []),
      ...columnBlocks(columnsOf(sweep), width),
      ...facts(sweep),
    ])
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function columnsOf({ steps, load_mode, ...sweep }: Sweep): TableColumn[] {
  const column = (above: string, below: string, cell: (step: SweepStep) => string): TableColumn => ({
    head: [above, below],
    cells: steps.map(cell),
  });
  const seconds = (name: SweepFigure) => (step: SweepStep) => quantity(step.values[name]?.mean, 'seconds');
  const plain = (name: SweepFigure) => (step: SweepStep) => rate(step.values[name]?.mean);
  const has = (name: SweepFigure): boolean => steps.some(({ values }) => values[name] !== null);
  const isRepeated = steps.some(({ runs }) => runs.length > 1);
  return [
    column(
      load_mode === 'concurrency' ? 'concur-' : 'req/s',
      load_mode === 'concurrency' ? 'rency' : 'sent',
      (step) => `${significant(step.load)}${markOf(step, sweep)}`,
    ),
    ...(isRepeated ? [column('', 'runs', ({ runs }) => String(runs.length))] : []),
    column('', 'ok', ({ requests }) => counted(requests.ok)),
    column('', 'failed', ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    column('', 'req/s', plain('request_throughput')),
    column('output', 'tok/s', plain('output_token_throughput')),
    ...LATENCIES.flatMap((measure) =>
      PERCENTILES.map((name) => column(shortTitle(measure), name, seconds(`${measure}_${name}`))),
    ),
    ...(has('goodput') ? [column('good', 'req/s', plain('goodput'))] : []),
    ...(steps.some(({ objective }) => objective !== null)
      ? [column('', 'SLO', ({ objective }) => (objective === null ? ABSENT : OBJECTIVE_VERDICTS[objective]))]
      : []),
  ];
}

/** A letter for the knee, a plus for the largest load within the objectives. */
function markOf({ load }: SweepStep, { knee, within_objective }: Pick<Sweep, 'knee' | 'within_objective'>): string {
  return `${within_objective?.holds === load ? ' +' : ''}${knee?.load === load ? ' k' : ''}`;
}

function facts({ steps, knee, within_objective: within }: Sweep): string[] {
  const isRepeated = steps.some(({ runs }) => runs.length > 1);
  const incomplete = steps.flatMap(({ runs }) => runs.filter(({ status }) => status !== 'completed'));
  const objectives = [...new Set(steps.flatMap(({ slos }) => slos.map(objectiveWords)))].join(', ');
  return [
    ...(within === null
      ? []
      : [`SLO         ${objectives}: ${within.holds === null ? '' : '+ '}${withinText(within)}`]),
    ...(knee === null ? [] : [`knee        k ${significant(knee.load)} (Kneedle)`]),
    ...(isRepeated ? ['values      means over the runs of a load'] : []),
    ...incomplete.map(({ run_id, status }) => `without     ${run_id}: ${status}`),
  ];
}

const rate = (value: number | undefined): string => (value === undefined ? ABSENT : significant(value));

const THROUGHPUTS = { output_token_throughput: 'output tokens', request_throughput: 'requests' } as const;

/** Why `--sweep auto` performs no further run. */
export function sweepEndLine(end: SweepEnd): string {
  switch (end.reason) {
    case 'saturated': {
      const [share, what] = [significant(Math.abs(end.gain) * 100), end.gain < 0 ? 'fewer' : 'more'];
      return `the sweep ends: twice the load gave ${share} % ${what} ${THROUGHPUTS[end.measure]} per second`;
    }
    case 'client saturated':
      return 'the sweep ends: the client is saturated; use --workers or several machines for higher loads';
    case 'no throughput':
      return 'the sweep ends: too few requests succeeded to measure a throughput';
  }
}
