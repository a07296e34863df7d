import type { Sweep } from '../../../core/sweeps/sweep-shape.ts';
import { placeLabels } from '../../../core/sweeps/place-labels.ts';
import type { SweepPoint } from '../../../core/sweeps/sweep-curves.ts';
import { BOTTOM_MARGIN, figure, PLOT, X_RANGE, type LegendEntry } from '../chart/figure.ts';
import { line } from '../chart/marks.ts';
import { linearScale, logScale, type Scale } from '../chart/scale.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';

const HEIGHT = 330;
const BOTTOM = HEIGHT - BOTTOM_MARGIN;
const Y_RANGE = [BOTTOM, PLOT.top] as const;
/** Above this ratio of the largest to the smallest value an axis is logarithmic. */
const LOG_RATIO = 20;
/** A limit this much above all values would flatten the curve. */
const MAX_ABOVE = 2;

/** The steps of a sweep as points. */
export interface SweepCurve {
  readonly name: string;
  /** The CSS class of its color. */
  readonly style: string;
  readonly sweep: Sweep;
  /** By ascending load. */
  readonly points: readonly SweepPoint[];
  /** Whether loads, the knee and the largest load within the objectives are marked. */
  readonly isMarked: boolean;
}

/** A value of y that should not be exceeded. */
export interface Limit {
  readonly value: number;
  readonly text: string;
}

export interface CurveFigure {
  readonly title: string;
  readonly caption: string;
  readonly curves: readonly SweepCurve[];
  /** Dashed lines without points. */
  readonly references?: readonly Omit<SweepCurve, 'isMarked'>[];
  /** Points that nothing beats, by ascending x. */
  readonly frontier?: readonly SweepPoint[];
  readonly limits?: readonly Limit[];
  readonly x: { readonly label: string; readonly text: (value: number) => string; readonly mayBeLog?: boolean };
  readonly y: { readonly text: (value: number) => string; readonly mayBeLog?: boolean };
  /** What is said of a point when the pointer is on it. */
  readonly pointText: (point: SweepPoint, curve: SweepCurve) => string;
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
  const scales: Scales = {
    x: scaleOf(
      all.flatMap(({ x, xRange }) => [x, ...xRange]),
      X_RANGE,
      chart.x.mayBeLog ?? false,
    ),
    y: scaleOf(
      [...all.flatMap(({ y, yRange }) => [y, ...yRange]), ...shown.map(({ value }) => value)],
      Y_RANGE,
      chart.y.mayBeLog ?? false,
    ),
  };
  const hidden = limits.filter((limit) => !shown.includes(limit)).map(({ text }) => `${text} is above the chart.`);
  return figure({
    title,
    caption: [caption, ...hidden].join(' '),
    legend: legendOf(chart, shown),
    height: HEIGHT,
    x: {
      scale: scales.x,
      label: `${chart.x.label}${scales.x.kind === 'log' ? ', log scale' : ''}`,
      text: chart.x.text,
    },
    y: { scale: scales.y, text: chart.y.text },
    marks: [
      frontierBand(frontier, scales),
      ...shown.map((limit) => limitLine(limit, scales)),
      ...references.map(({ points, style }) => line(positions(points, scales), `${style} dash thin`)),
      ...curves.map(({ points, style }) => line(positions(points, scales), style)),
      ...curves.flatMap((curve) => curve.points.map((point) => pointMark(point, curve, chart, scales))),
      ...curves.filter(({ isMarked }) => isMarked).flatMap((curve) => stepMarks(curve, scales)),
      ...loadLabels(chart, scales),
    ],
  });
}

function scaleOf(values: readonly number[], range: readonly [number, number], mayBeLog: boolean): Scale {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (mayBeLog && low > 0 && high / low > LOG_RATIO) return logScale([low, high], range);
  return linearScale([0, high], range, 6);
}

const positions = (points: readonly SweepPoint[], { x, y }: Scales): (readonly [number, number])[] =>
  points.map((point) => [x.at(point.x), y.at(point.y)]);

function frontierBand(frontier: readonly SweepPoint[], scales: Scales): Html {
  return frontier.length < 2 ? html`` : line(positions(frontier, scales), 'frontier');
}

function limitLine({ value, text }: Limit, { y }: Scales): Html {
  const at = px(y.at(value));
  return html`<path class="line limit" d="M${PLOT.left},${at}H${PLOT.right}" /><text
      class="mark-label limit"
      x="${PLOT.left + 6}"
      y="${at - 5}"
      >${text}</text
    > `;
}

/** Hollow where the objective is not met; with bars over the repeats. */
function pointMark(point: SweepPoint, curve: SweepCurve, chart: CurveFigure, { x, y }: Scales): Html {
  const [left, right] = point.xRange.map((value) => px(x.at(value)));
  const [low, high] = point.yRange.map((value) => px(y.at(value)));
  const [cx, cy] = [px(x.at(point.x)), px(y.at(point.y))];
  const isHollow = point.step.objective !== null && point.step.objective !== 'met';
  const bars = point.step.runs.length > 1 ? `M${cx},${low}V${high}M${left},${cy}H${right}` : null;
  return html`${bars === null ? null : html`<path class="line thin ${curve.style}" d="${bars}" />`}<circle
      class="point ${curve.style}${isHollow ? ' hollow' : ''}"
      cx="${cx}"
      cy="${cy}"
      r="4.2"
    >
      <title>${chart.pointText(point, curve)}</title>
    </circle> `;
}

/** A diamond around the knee, a ring around the largest load within the objectives. */
function stepMarks({ sweep, points }: SweepCurve, { x, y }: Scales): Html[] {
  const at = (load: number | null | undefined): SweepPoint | undefined => points.find(({ step }) => step.load === load);
  const [knee, within] = [at(sweep.knee?.load), at(sweep.within_objective?.holds)];
  return [
    ...(knee === undefined ? [] : [html`<path class="mark" d="${diamond(x.at(knee.x), y.at(knee.y), 9.5)}" />`]),
    ...(within === undefined
      ? []
      : [html`<circle class="mark good" cx="${px(x.at(within.x))}" cy="${px(y.at(within.y))}" r="7.5" />`]),
  ];
}

export const diamond = (x: number, y: number, r: number): string =>
  `M${px(x)},${px(y - r)}L${px(x + r)},${px(y)}L${px(x)},${px(y + r)}L${px(x - r)},${px(y)}z`;

/** The load beside each point, as far as there is room; marked loads first. */
function loadLabels({ curves }: CurveFigure, { x, y }: Scales): Html[] {
  const pointOf = ({ x: px, y: py }: SweepPoint) => ({ x: x.at(px), y: y.at(py) });
  const labels = curves
    .filter(({ isMarked }) => isMarked)
    .flatMap(({ sweep, points }) =>
      points.map((point) => ({
        ...pointOf(point),
        text: point.step.load.toLocaleString('en-US'),
        first: [sweep.knee?.load, sweep.within_objective?.holds].includes(point.step.load),
      })),
    )
    .sort((a, b) => Number(b.first) - Number(a.first));
  const space = { left: PLOT.left, right: PLOT.right, top: 0, bottom: BOTTOM, characterWidth: 7, lineHeight: 14 };
  const placed = placeLabels(
    labels,
    curves.flatMap(({ points }) => points.map(pointOf)),
    space,
  );
  return placed.flatMap((place, i) =>
    place === null
      ? []
      : [
          html`<text class="mark-label" x="${px(place.x)}" y="${px(place.y)}" text-anchor="${place.align}"
            >${labels[i]?.text ?? ''}</text
          > `,
        ],
  );
}

function legendOf({ curves, references = [], frontier = [] }: CurveFigure, limits: readonly Limit[]): LegendEntry[] {
  const marked = curves.filter(({ isMarked }) => isMarked);
  const shows = (load: number | null | undefined, { points }: SweepCurve): boolean =>
    points.some(({ step }) => step.load === load);
  const steps = curves.flatMap(({ points }) => points.map(({ step }) => step));
  const entries: readonly (LegendEntry | false)[] = [
    ...curves.map(({ name, style }) => ({ label: name, style })),
    ...references.map(({ name, style }) => ({ label: name, style: `${style} dash thin` })),
    frontier.length > 1 && { label: 'Pareto frontier', style: 'frontier' },
    limits.length > 0 && { label: 'objective', style: 'limit' },
    steps.some(({ objective }) => objective !== null && objective !== 'met') && {
      ...{ label: 'objective not met or undecided', style: 'c6', mark: 'hollow' as const },
    },
    marked.some((curve) => shows(curve.sweep.within_objective?.holds, curve)) && {
      ...{ label: 'largest load within the objective', style: 'good', mark: 'ring' as const },
    },
    marked.some((curve) => shows(curve.sweep.knee?.load, curve)) && {
      ...{ label: 'knee', style: '', mark: 'diamond' as const },
    },
  ];
  return entries.filter((entry) => entry !== false);
}

const px = (position: number): number => Math.round(position * 10) / 10;
