import { diamondPath, px } from '../../../core/chart/path.ts';
import { ticksOf } from '../../../core/chart/scale.ts';
import { measureTitle } from '../../../core/measures/names.ts';
import {
  curvePath,
  curveScales,
  isOpen,
  loadLabels,
  markedPoints,
  repeatsPath,
  latencyLimits,
  paretoFrontier,
  efficiencyCurve,
  latencyCurve,
  loadCurve,
  type CurveScales,
  type LatencyLimit,
  type MarkedCurve,
  type SweepPoint,
} from '../../../core/sweeps/sweep-curves.ts';
import type { SweepPercentile, SweepFigure, SweepLatency } from '../../../core/sweeps/sweep-figures.ts';
import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import { quantity, significant, tickText } from '../../../core/text/quantities.ts';
import { BOTTOM_MARGIN, figure, mark, PLOT, X_RANGE, emptyFigure, type LegendEntry } from '../figure.ts';
import { html, type Html } from '../html.ts';

const HEIGHT = 330;
const SPACE = {
  ...{ left: PLOT.left, right: PLOT.right, top: 0, bottom: HEIGHT - BOTTOM_MARGIN },
  ...{ characterWidth: 7, lineHeight: 14 },
};
/** A limit this much above all values would flatten the curve. */
const MAX_ABOVE = 2;

/** The steps of a sweep as points. */
interface SweepCurve extends MarkedCurve {
  readonly name: string;
  /** The CSS class of its color. */
  readonly style: string;
  /** Whether loads, the knee and the largest load within the objectives are marked. */
  readonly isMarked: boolean;
}

interface CurveFigure {
  readonly title: string;
  readonly caption: string;
  readonly curves: readonly SweepCurve[];
  /** Dashed lines without points. */
  readonly references?: readonly SweepCurve[];
  /** Points that nothing beats, by ascending x. */
  readonly frontier?: readonly SweepPoint[];
  readonly limits?: readonly LatencyLimit[];
  readonly x: CurveAxis & { readonly label: string };
  readonly y: CurveAxis;
  /** What is said of a point when the pointer is on it. */
  readonly pointText: (point: SweepPoint, curve: SweepCurve) => string;
}

interface CurveAxis {
  readonly text: (value: number) => string;
  readonly mayBeLog?: boolean;
}

/** A chart of curves over the steps of sweeps. */
function curveFigure(chart: CurveFigure): Html {
  const { title, caption, curves, references = [], frontier = [], limits = [] } = chart;
  const all = [...curves, ...references].flatMap(({ points }) => points);
  const highest = Math.max(...all.map(({ y }) => y));
  const shown = limits.filter(({ value }) => chart.y.mayBeLog || value <= highest * MAX_ABOVE);
  const hidden = limits.filter((limit) => !shown.includes(limit)).map(({ text }) => `${text} is above the chart.`);
  const scales = curveScales(all, shown, {
    x: { range: X_RANGE, ticks: 6, mayBeLog: chart.x.mayBeLog },
    y: { range: [SPACE.bottom, PLOT.top], ticks: 6, mayBeLog: chart.y.mayBeLog },
  });
  const marked = curves.filter(({ isMarked }) => isMarked);
  return figure({
    title,
    caption: [caption, ...hidden].join(' '),
    legend: legendOf(chart, shown),
    height: HEIGHT,
    x: {
      ...{ scale: scales.x, ticks: ticksOf(scales.x, 9), text: chart.x.text },
      label: `${chart.x.label}${scales.x.isLog ? ', log scale' : ''}`,
    },
    y: { scale: scales.y, ticks: ticksOf(scales.y, scales.y.isLog ? 9 : 6), text: chart.y.text },
    marks: [
      mark('line', frontier.length > 1 ? curvePath(frontier, scales) : '', 'frontier'),
      ...shown.map((limit) => limitLine(limit, scales)),
      ...references.map(({ points, style }) => mark('line', curvePath(points, scales), `${style} dash thin`)),
      ...curves.map(({ points, style }) => mark('line', curvePath(points, scales), style)),
      ...curves.flatMap((curve) =>
        curve.points.map((point) => pointMark(point, curve.style, chart.pointText(point, curve), scales)),
      ),
      ...marked.map((curve) => stepMarks(curve, scales)),
      ...loadLabels(marked, scales, SPACE).map(
        ({ x, y, align, text }) =>
          html`<text class="mark-label" x="${px(x)}" y="${px(y)}" text-anchor="${align}">${text}</text> `,
      ),
    ],
  });
}

function limitLine({ value, text }: LatencyLimit, { y }: CurveScales): Html {
  const at = px(y(value));
  return html`<path class="line limit" d="M${PLOT.left},${at}H${PLOT.right}" /><text
      class="mark-label limit"
      x="${PLOT.left + 6}"
      y="${at - 5}"
      >${text}</text
    > `;
}

/** Hollow where the objective is not met; with bars over the repeats. */
function pointMark(point: SweepPoint, style: string, text: string, scales: CurveScales): Html {
  return html`${mark('line', repeatsPath(point, scales), `thin ${style}`)}<circle
      class="point ${style}${isOpen(point) ? ' hollow' : ''}"
      cx="${px(scales.x(point.x))}"
      cy="${px(scales.y(point.y))}"
      r="4.2"
    >
      <title>${text}</title>
    </circle> `;
}

/** A diamond around the knee, a ring around the largest load within the objectives. */
function stepMarks(curve: SweepCurve, { x, y }: CurveScales): Html {
  const { knee, within } = markedPoints(curve);
  return html`${knee ? html`<path class="mark" d="${diamondPath(x(knee.x), y(knee.y), 9.5)}" />` : null}${
    within ? html`<circle class="mark good" cx="${px(x(within.x))}" cy="${px(y(within.y))}" r="7.5" />` : null
  }`;
}

function legendOf({ curves, references = [], frontier = [] }: CurveFigure, limits: readonly unknown[]): LegendEntry[] {
  const marks = curves.filter(({ isMarked }) => isMarked).map(markedPoints);
  const entries: readonly (LegendEntry | false)[] = [
    ...curves.map(({ name, style }) => ({ label: name, style })),
    ...references.map(({ name, style }) => ({ label: name, style: `${style} dash thin` })),
    frontier.length > 1 && { label: 'Pareto frontier', style: 'frontier' },
    limits.length > 0 && { label: 'objective', style: 'limit' },
    curves.some(({ points }) => points.some(isOpen)) && {
      ...{ label: 'objective not met or undecided', style: 'c6', mark: 'hollow' as const },
    },
    marks.some(({ within }) => within) && {
      ...{ label: 'largest load within the objective', style: 'good', mark: 'ring' as const },
    },
    marks.some(({ knee }) => knee) && { label: 'knee', style: '', mark: 'diamond' as const },
  ];
  return entries.filter((entry) => entry !== false);
}

/** The data of the report of one or several sweeps. */
export interface SweepReport {
  readonly title: string;
  /** At least one. */
  readonly sweeps: readonly Sweep[];
  /** The name of each sweep beside the others. */
  readonly names: readonly string[];
  /** Of the latencies that are drawn where several sweeps are. */
  readonly percentile: SweepPercentile;
  /** GPUs of each sweep; null: as its runs report. */
  readonly gpus: number | null;
  /** What could not be read, one line each. */
  readonly notes: readonly string[];
}

/** GPUs that tokens/s are divided by; null: unknown. */
export const gpusOf = ({ gpus }: SweepReport, sweep: Sweep): number | null => gpus ?? sweep.gpus;

/** The CSS class of the color of a sweep. */
const colorOf = (place: number): string => `c${(place % COLORS) + 1}`;

const COLORS = 6;

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
