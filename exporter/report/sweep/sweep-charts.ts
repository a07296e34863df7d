import { measureTitle } from '../../../core/measures/names.ts';
import { paretoFrontier } from '../../../core/sweeps/pareto.ts';
import { latencyLimits } from '../../../core/sweeps/curve-marks.ts';
import { efficiencyCurve, latencyCurve, loadCurve, type SweepPoint } from '../../../core/sweeps/sweep-curves.ts';
import type { SweepFigure, SweepLatency, SweepPercentile } from '../../../core/sweeps/sweep-figures.ts';
import { quantity, significant, tickText } from '../../../core/text/quantities.ts';
import { emptyFigure } from '../figure.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { curveFigure, type SweepCurve } from './curve-figure.ts';
import { colorOf, gpusOf, type SweepReport } from './sweep-report.ts';

/** Of the speed per user: what half of the requests reach. */
const SPEED_PERCENTILE = 'p50';

const count = (value: number): string => Number(value.toPrecision(6)).toLocaleString('en-US');

/** The curves of the sweeps over each other. */
export function sweepCharts(report: SweepReport): Html {
  return html`<section>
    <h2>Curves</h2>
    <p class="note">
      Each point is a load, labeled with it. Values are means over the runs of a load (of a percentile, the mean of the
      runs’ percentiles) with bars from the smallest to the largest. The knee is the load from which throughput grows
      less than in proportion, by Kneedle (Satopää et al., 2011).
    </p>
    <div class="charts">
      ${latencyChart(report, 'time_to_first_token')} ${loadChart(report)} ${efficiencyChart(report)}
    </div>
  </section> `;
}

function latencyChart(report: SweepReport, latency: SweepLatency): Html {
  const name = measureTitle({ measure: latency, clock: 'sent' });
  const title = `Throughput and ${name}`;
  const percentiles = drawnPercentiles(report);
  const curves = report.sweeps.flatMap((sweep, i) =>
    percentiles.map((percentile, j): SweepCurve => {
      const points = latencyCurve(sweep, 'output_token_throughput', latency, percentile);
      const isOne = report.sweeps.length === 1;
      return {
        name: isOne ? percentile : nameOf(report, i),
        ...{ style: colorOf(isOne ? j : i), sweep, points, isMarked: percentile === report.percentile },
      };
    }),
  );
  if (curves.every(({ points }) => points.length === 0))
    return emptyFigure(title, `No run reports throughput of tokens and ${name}.`);
  const which = percentiles.length === 1 ? `${percentiles[0] ?? ''} of ` : '';
  return curveFigure({
    ...{ title, curves: withPoints(curves), limits: latencyLimits(report.sweeps, latency, percentiles) },
    caption: `${which}${name} over ok requests.`,
    x: { label: 'output tokens/s', text: count },
    y: { text: (value) => tickText(value, 'seconds'), mayBeLog: true },
    pointText: (point, { name: curve }) =>
      `${stepText(point, report)}, ${curve}: ${quantity(point.x, 'tokens_per_second')}, ${quantity(point.y, 'seconds')}${runsText(point)}`,
  });
}

/** The chosen one; of a single sweep also the usual and a frequent value. */
function drawnPercentiles({ sweeps, percentile }: SweepReport): readonly SweepPercentile[] {
  return sweeps.length === 1 ? [...new Set(['p50', 'p90', percentile] as const)].sort() : [percentile];
}

function efficiencyChart(report: SweepReport): Html {
  const title = 'Tokens/s per user and per GPU';
  const curves = report.sweeps.flatMap((sweep, i): SweepCurve[] => {
    const gpus = gpusOf(report, sweep);
    if (gpus === null) return [];
    const points = efficiencyCurve(sweep, 'output_token_throughput', SPEED_PERCENTILE, gpus);
    return [
      {
        name: `${nameOf(report, i)}, ${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`,
        style: colorOf(i),
        sweep,
        points,
        isMarked: true,
      },
    ];
  });
  const drawn = withPoints(curves);
  const missing = report.sweeps.filter((sweep) => gpusOf(report, sweep) === null).length;
  if (drawn.length === 0) {
    return emptyFigure(
      title,
      missing > 0
        ? html`The number of GPUs is missing: the servers’ metrics did not report it.
            <code>llmbench report GROUP --gpus N</code> adds it.`
        : 'No run reports throughput of tokens and inter-token latency.',
    );
  }
  const left =
    missing === 0
      ? ''
      : ` ${missing} of ${report.sweeps.length} sweeps are not shown: their number of GPUs is missing.`;
  return curveFigure({
    ...{ title, curves: drawn },
    caption: `Speed per user: 1 ÷ ${SPEED_PERCENTILE} of inter-token latency. Output tokens/s ÷ GPUs, upwards.${left}`,
    frontier: paretoFrontier(drawn.flatMap(({ points }) => points)),
    x: { label: 'tokens/s per user', text: count },
    y: { text: count },
    pointText: (point, { name }) =>
      `${stepText(point, report)}, ${name}: ${significant(point.x)} tokens/s per user, ${significant(point.y)} tokens/s per GPU${runsText(point)}`,
  });
}

/** Goodput where the runs have limits for good requests, else throughput. */
function loadChart(report: SweepReport): Html {
  const goodput = withPoints(loadCurves(report, 'goodput'));
  const isGoodput = goodput.length > 0;
  const figure = report.sweeps.some(({ knee }) => knee?.figure === 'request_throughput')
    ? 'request_throughput'
    : 'output_token_throughput';
  const curves = isGoodput ? goodput : withPoints(loadCurves(report, figure));
  const title = isGoodput ? 'Goodput over load' : 'Throughput over load';
  if (curves.length === 0) return emptyFigure(title, 'No run reports throughput.');
  const isRequests = isGoodput || figure === 'request_throughput';
  const label = [...new Set(report.sweeps.map(({ load_mode }) => LOAD_WORDS[load_mode]))].join(' or ');
  return curveFigure({
    ...{ title, curves },
    caption: isGoodput
      ? 'Requests/s that keep every limit of --goodput; dashed: all ok requests/s.'
      : `${isRequests ? 'Requests/s' : 'Output tokens/s'}. With limits for good requests (llmbench run --goodput) goodput is drawn.`,
    references: isGoodput
      ? loadCurves(report, 'request_throughput').map((curve) => ({ ...curve, name: `${curve.name}, all requests` }))
      : [],
    x: { label, text: count, mayBeLog: true },
    y: { text: count },
    pointText: (point) => {
      const unit = isRequests ? 'requests_per_second' : 'tokens_per_second';
      return `${stepText(point, report)}: ${quantity(point.y, unit)}${runsText(point)}`;
    },
  });
}

function loadCurves(report: SweepReport, figure: SweepFigure): SweepCurve[] {
  return report.sweeps.map((sweep, i) => ({
    ...{ name: nameOf(report, i), style: colorOf(i), sweep, points: loadCurve(sweep, figure), isMarked: true },
  }));
}

const LOAD_WORDS = { concurrency: 'concurrency', request_rate: 'requests/s sent' } as const;

const withPoints = (curves: readonly SweepCurve[]): SweepCurve[] => curves.filter(({ points }) => points.length > 0);

const nameOf = ({ names }: SweepReport, i: number): string => names[i] ?? '';

function stepText({ step }: SweepPoint, { sweeps }: SweepReport): string {
  const isRate = sweeps.every(({ load_mode }) => load_mode === 'request_rate');
  return isRate ? `${count(step.load)} requests/s` : `concurrency ${count(step.load)}`;
}

const runsText = ({ step }: SweepPoint): string => (step.runs.length > 1 ? ` (mean of ${step.runs.length} runs)` : '');
