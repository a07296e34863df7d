import { diamondPath, px } from '../../../core/chart/path.ts';
import { fittedScale, ticksOf, type Scale } from '../../../core/chart/scale.ts';
import {
  CURVE_LOG_RATIO,
  curvePath,
  isOpen,
  loadLabels,
  markedPoints,
  repeatsPath,
  type LatencyLimit,
  type MarkedCurve,
} from '../../../core/sweeps/curve-marks.ts';
import type { SweepPoint } from '../../../core/sweeps/sweep-curves.ts';
import { BOTTOM_MARGIN, figure, mark, PLOT, X_RANGE, type LegendEntry } from '../figure.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';

const HEIGHT = 330;
const SPACE = {
  ...{ left: PLOT.left, right: PLOT.right, top: 0, bottom: HEIGHT - BOTTOM_MARGIN },
  ...{ characterWidth: 7, lineHeight: 14 },
};
/** A limit this much above all values would flatten the curve. */
const MAX_ABOVE = 2;

/** The steps of a sweep as points. */
export interface SweepCurve extends MarkedCurve {
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

interface Scales {
  readonly x: Scale;
  readonly y: Scale;
}

/** A chart of curves over the steps of sweeps. */
export function curveFigure(chart: CurveFigure): Html {
  const { title, caption, curves, references = [], frontier = [], limits = [] } = chart;
  const all = [...curves, ...references].flatMap(({ points }) => points);
  const highest = Math.max(...all.map(({ y }) => y));
  const shown = limits.filter(({ value }) => chart.y.mayBeLog || value <= highest * MAX_ABOVE);
  const hidden = limits.filter((limit) => !shown.includes(limit)).map(({ text }) => `${text} is above the chart.`);
  const scaleOf = (values: number[], range: readonly [number, number], { mayBeLog = false }: CurveAxis): Scale =>
    fittedScale(values, range, 6, mayBeLog ? CURVE_LOG_RATIO : Infinity);
  const ys = [...all.flatMap(({ y, yRange }) => [y, ...yRange]), ...shown.map(({ value }) => value)];
  const scales: Scales = {
    x: scaleOf(
      all.flatMap(({ x, xRange }) => [x, ...xRange]),
      X_RANGE,
      chart.x,
    ),
    y: scaleOf(ys, [SPACE.bottom, PLOT.top], chart.y),
  };
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

function limitLine({ value, text }: LatencyLimit, { y }: Scales): Html {
  const at = px(y(value));
  return html`<path class="line limit" d="M${PLOT.left},${at}H${PLOT.right}" /><text
      class="mark-label limit"
      x="${PLOT.left + 6}"
      y="${at - 5}"
      >${text}</text
    > `;
}

/** Hollow where the objective is not met; with bars over the repeats. */
function pointMark(point: SweepPoint, style: string, text: string, scales: Scales): Html {
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
function stepMarks(curve: SweepCurve, { x, y }: Scales): Html {
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
