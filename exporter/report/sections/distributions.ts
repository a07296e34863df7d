import { counted, quantity, tickText } from '../../../core/text/quantities.ts';
import type { ClassicHistogram } from '../../../core/histogram/classic-histogram.ts';
import { distributionOf, type DistributionResult, type ResultFile } from '../../../core/run/result.ts';
import { pathOf, type ChartPoint } from '../../../core/chart/path.ts';
import { fittedScale, linearScale, ticksOf, type Scale } from '../../../core/chart/scale.ts';
import { emptyFigure, figure, mark, PLOT, X_RANGE, Y_RANGE, type LegendEntry } from '../figure.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { ReportData } from '../report-data.ts';
import { latenciesOf } from '../report-data.ts';
import { heading } from '../words.ts';

/** Maximum number of points of a curve; more cannot be distinguished. */
const CURVE_POINTS = 240;
/** Above this ratio of the largest to the smallest value the axis is logarithmic. */
const LOG_RATIO = 12;

/** A cumulative distribution as points: the share of the values at or below a value. */
type Curve = readonly (readonly [value: number, share: number])[];

/** The cumulative distributions of the latencies, with the intervals of their percentiles. */
export function distributions({ result, requests }: ReportData): Html {
  if (requests === null) return html``;
  const { timeToFirstToken, interTokenLatency, requestLatency, gaps, failed } = requests;
  const gapCount = gaps?.counts.at(-1) ?? 0;
  const perRequest = [
    ['time_to_first_token', timeToFirstToken],
    ['inter_token_latency', interTokenLatency],
    ['request_latency', requestLatency],
  ] as const;
  const shown = latenciesOf(result);
  return html`<section>
    <h2>Latency distributions</h2>
    <p class="note">
      Share of the requests (of the gaps, for inter-chunk latency) with at most the given latency. The pale bars are 95
      % intervals of p50, p90 and p99 from a moving-block bootstrap: the uncertainty of sampling within this run, not
      the variation between runs.
    </p>
    <div class="charts">
      ${perRequest
        .filter(([measure]) => shown.includes(measure))
        .map(([measure, { sorted, measured }]) => {
          const curve = curveOf(sorted);
          return distribution(result, measure, { curve, n: measured, drawn: sorted.length, failed });
        })}
      ${shown.length === 1 ? null : distribution(result, 'inter_chunk_latency', { curve: thinned(gapCurve(gaps)), n: gapCount, drawn: gapCount, failed: 0 })}
    </div>
  </section> `;
}

interface DrawnCurve {
  readonly curve: Curve;
  /** The number of values, and the number that the curve is drawn from. */
  readonly n: number;
  readonly drawn: number;
  readonly failed: number;
}

function distribution(result: ResultFile, name: string, { curve, n, drawn, failed }: DrawnCurve): Html {
  const measure = distributionOf(result.measures, name);
  const title = heading({ measure: name, clock: 'sent' });
  const [low, high] = [curve[0]?.[0] ?? NaN, curve.at(-1)?.[0] ?? NaN];
  if (measure === undefined || !(high >= low)) return emptyFigure(title, 'No request has a value for this measure.');
  const x = valueScale(curve);
  const y = linearScale([0, 1], Y_RANGE);
  const points = (share: number): ChartPoint[] => [
    [x(low), y(0)],
    ...curve.map(([value, part]): ChartPoint => [x(value), y(part * share)]),
  ];
  const withFailed = failed > 0 && name !== 'inter_chunk_latency' ? n / (n + failed) : null;
  const legend: LegendEntry[] = [
    { label: `ok requests, n ${counted(n)}${drawn < n ? ` (${counted(drawn)} drawn)` : ''}`, style: 'c1' },
    ...(withFailed === null
      ? []
      : [{ label: `including the ${counted(failed)} failed requests, which never end`, style: 'c3 dash' }]),
  ];
  return figure({
    title,
    caption: measure.definition.replaceAll('_', ' '),
    legend,
    x: {
      ...{ scale: x, ticks: ticksOf(x, x.isLog ? 9 : 6), text: (value) => tickText(value, 'seconds') },
      label: x.isLog ? 'log scale' : '',
    },
    y: { scale: y, ticks: [0, 0.25, 0.5, 0.75, 0.9, 1], text: (value) => `${Math.round(value * 100)} %` },
    marks: [
      ...intervals(measure, x, y),
      mark('line', withFailed === null ? '' : pathOf(points(withFailed)), 'c3 dash'),
      mark('line', pathOf(points(1)), 'c1'),
      ...percentileLabels(measure, x, y),
    ],
  });
}

const MARKED = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
] as const;

function intervals({ percentiles }: DistributionResult, x: Scale, y: Scale): Html[] {
  return MARKED.flatMap(([name, share]) => {
    const { ci95 } = percentiles[name];
    if (ci95 === null) return [];
    return [mark('line', pathOf(ci95.map((value) => [x(value), y(share)] as const)), 'c1 thick')];
  });
}

/** Below the curve; the label of the p99 above it if there is room. */
function percentileLabels({ percentiles }: DistributionResult, x: Scale, y: Scale): Html[] {
  return MARKED.flatMap(([name, share]) => {
    const { value } = percentiles[name];
    if (value === null) return [];
    const at = x(value);
    const right = name === 'p99' ? at < PLOT.left + 100 : at < PLOT.right - 110;
    const label = `${name} ${quantity(value, 'seconds')}`;
    const dy = name === 'p99' ? -2 : 14;
    return [
      html`<circle cx="${Math.round(at)}" cy="${Math.round(y(share))}" r="3" style="fill:var(--c1)" /><text
          class="mark-label"
          x="${Math.round(at + (right ? 9 : -9))}"
          y="${Math.round(y(share) + dy)}"
          text-anchor="${right ? 'start' : 'end'}"
          >${label}</text
        >`,
    ];
  });
}

/** Linear from 0, or logarithmic over the middle and the tail if the values span a wide range. */
function valueScale(curve: Curve): Scale {
  const low = curve.find(([value, share]) => value > 0 && share >= 0.001)?.[0] ?? 0;
  return fittedScale([low, curve.at(-1)?.[0] ?? 0], X_RANGE, 6, LOG_RATIO);
}

/** The sorted values as a curve: evenly spaced shares, finer towards the tail. */
function curveOf(sorted: Float64Array): Curve {
  const n = sorted.length;
  return thinned(
    Array.from({ length: Math.min(n, 4 * CURVE_POINTS) }, (_, i) => {
      const rank = n <= 4 * CURVE_POINTS ? i : Math.round((1 - (1 - i / (4 * CURVE_POINTS - 1)) ** 2) * (n - 1));
      return [sorted[rank] ?? NaN, (rank + 1) / n] as const;
    }),
  );
}

/** From the fine histogram: a point at each bucket edge where the count grows. */
function gapCurve(gaps: ClassicHistogram | null): Curve {
  if (gaps === null) return [];
  const { bounds, counts } = gaps;
  const n = counts.at(-1) ?? NaN;
  return bounds.flatMap((bound, i) => {
    const count = counts[i] ?? 0;
    return Number.isFinite(bound) && count > (counts[i - 1] ?? 0) ? [[bound, count / n] as const] : [];
  });
}

function thinned(curve: Curve): Curve {
  if (curve.length <= CURVE_POINTS) return curve;
  return Array.from(
    { length: CURVE_POINTS },
    (_, i) => curve[Math.round((i / (CURVE_POINTS - 1)) * (curve.length - 1))] ?? [NaN, NaN],
  );
}
