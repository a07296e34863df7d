import { scalarOf } from '../../../core/run/result.ts';
import { barsPath, pathOf } from '../../../core/chart/path.ts';
import { linearScale, valueTicks, fittedScale, ticksOf, type Scale } from '../../../core/chart/scale.ts';
import { capitalized } from '../../../core/measures/names.ts';
import { steadinessText } from '../../../core/measures/time-slices.ts';
import { significant, tickText } from '../../../core/text/quantities.ts';
import { PLOT, X_RANGE, emptyFigure, figure, mark, Y_RANGE, type ChartFigure, type FigureAxis } from '../figure.ts';
import { html, type Html } from '../html.ts';
import { latenciesOf, phaseSpans, stageSpans, type ReportData } from '../report-data.ts';
import { type LatencyView, type RequestView, binEnd, type TimeBins } from '../request-view.ts';

const MINUTE = 60;
const HOUR = 3600;

/** The time since the run's start: the same axis on every chart, with the phases and stages in the background. */
export interface TimeAxis {
  readonly x: ChartFigure['x'];
  readonly behind: Html;
  /** The position of the middle of a bin. */
  readonly middle: (bins: TimeBins, bin: number) => number;
}

export function timeAxis({ run, result }: Pick<ReportData, 'run' | 'result'>, spanSeconds: number): TimeAxis {
  const [divisor, unit] =
    spanSeconds >= 3 * HOUR ? [HOUR, 'h'] : spanSeconds >= 5 * MINUTE ? [MINUTE, 'min'] : [1, 's'];
  const scale = linearScale([0, spanSeconds], X_RANGE);
  const at = (seconds: number): number => Math.min(PLOT.right, Math.max(PLOT.left, scale(seconds)));
  return {
    x: {
      scale,
      ticks: valueTicks([0, spanSeconds / divisor], 6).map((tick) => tick * divisor),
      label: `${unit} since the start`,
      text: (seconds) => String(Number((seconds / divisor).toPrecision(6))),
    },
    behind: html`${phaseSpans(run).map(({ phase, from, to }) => phaseBand(phase, at(from), at(to)))}
    ${stageSpans(run, result).map(({ stage, text, from, to }) => stageBand(stage, text, at(from), at(to)))}`,
    middle: (bins, bin) => scale((bin * bins.widthSeconds + binEnd(bins, bin)) / 2),
  };
}

/** About the width of a character of the labels. */
const CHARACTER = 6.5;

function phaseBand(phase: string, from: number, to: number): Html {
  const edge = html`<path class="edge" d="M${Math.round(from)},${PLOT.top}V${PLOT.bottom}" />`;
  const title = UNMEASURED.get(phase);
  return title === undefined ? edge : html`${area(from, to)}${label(title, from, to)}`;
}

const UNMEASURED: ReadonlyMap<string, string> = new Map([
  ['warmup', 'warm-up'],
  ['cooldown', 'cool-down'],
]);

/** Every second stage has a background, so that their edges are seen. */
function stageBand(stage: number, text: string, from: number, to: number): Html {
  return html`${stage % 2 === 0 ? area(from, to) : null}${label(text, from, to)}`;
}

function area(from: number, to: number): Html {
  return html`<rect
    class="phase"
    x="${Math.round(from)}"
    y="${PLOT.top}"
    width="${Math.max(1, Math.round(to - from))}"
    height="${PLOT.bottom - PLOT.top}"
  />`;
}

/** Left out where it does not fit. */
function label(text: string, from: number, to: number): Html | null {
  if (to - from < text.length * CHARACTER + 6) return null;
  return html`<text x="${Math.round(from) + 4}" y="${PLOT.top + 12}">${text}</text>`;
}

/** Above this ratio of the largest to the smallest drawn latency the axis is logarithmic. */
const LOG_RATIO = 25;

/** Latencies, throughput, load and errors on one time axis. */
export function timeline(data: ReportData): Html {
  const { requests } = data;
  if (requests === null) return html``;
  const axis = timeAxis(data, requests.bins.spanSeconds);
  const isStreamed = latenciesOf(data.result).length > 1;
  const isOfDocuments = (scalarOf(data.result.measures, 'document_throughput')?.value ?? null) !== null;
  return html`<section>
    <h2>Over time</h2>
    <p class="note">
      The shaded area is the warm-up, which is excluded from the results; a dotted line marks the start of the measure
      phase. ${data.result.stages.length === 0 ? null : 'Every second stage of the load is shaded too. '}Captions give
      the length of the intervals, chosen for ten requests per interval on average. A p90 is drawn for intervals with at
      least 10 requests, a p99 for those with at least 100.
    </p>
    ${steadinessText(data.result.slices).map((line) => html`<p>${capitalized(line)}.</p>`)}
    <div class="charts">
      ${
        isStreamed
          ? [
              latencyOverTime(
                axis,
                'Time to first token',
                'at the first chunk with content',
                requests.timeToFirstToken,
              ),
              latencyOverTime(
                axis,
                'Inter-token latency',
                'mean of each request, at its last chunk',
                requests.interTokenLatency,
              ),
            ]
          : null
      }
      ${latencyOverTime(axis, 'Request latency', 'at the last chunk with content', requests.requestLatency)}
      ${isOfDocuments ? null : tokensOverTime(axis, requests)} ${endsOverTime(axis, requests)}
      ${inFlightOverTime(axis, requests)}
    </div>
  </section> `;
}

function latencyOverTime(axis: TimeAxis, title: string, when: string, latency: LatencyView): Html {
  const { p50, p90, p99 } = latency.overTime;
  const values = [...latency.dots.map(([, seconds]) => seconds), ...[p50, p90, p99].flat().filter((v) => v !== null)];
  if (values.length === 0) return emptyFigure(title, 'No request has a value for this measure.');
  const y = valueAxis(values, (value) => tickText(value, 'seconds'), LOG_RATIO);
  const drawn = (percentile: readonly (number | null)[]) =>
    percentile.map((value, bin) => [axis.middle(latency.bins, bin), value === null ? null : y.scale(value)] as const);
  const shown =
    latency.dots.length < latency.requests
      ? `${latency.dots.length.toLocaleString('en-US')} of ${latency.requests.toLocaleString('en-US')} requests, chosen at random`
      : 'each request';
  const has = (percentile: readonly (number | null)[]): boolean => percentile.some((value) => value !== null);
  return figure({
    title,
    caption: `${when}, per ${widthWords(latency.bins)}`,
    legend: [
      { label: 'p50', style: 'c1' },
      ...(has(p90) ? [{ label: 'p90', style: 'c2' }] : []),
      ...(has(p99) ? [{ label: 'p99', style: 'c3' }] : []),
      { label: shown, style: 'c6', mark: 'dots' as const },
    ],
    x: axis.x,
    y,
    behind: axis.behind,
    marks: [
      mark(
        'dots',
        pathOf(
          latency.dots.map(([at, seconds]) => [axis.x.scale(at), y.scale(seconds)] as const),
          'points',
        ),
        'c6',
      ),
      mark('line', pathOf(drawn(p99)), 'c3'),
      mark('line', pathOf(drawn(p90)), 'c2'),
      mark('line', pathOf(drawn(p50)), 'c1'),
    ],
  });
}

/** An axis of values from 0, or a logarithmic one. */
function valueAxis(values: readonly number[], text: FigureAxis['text'], logFrom = Infinity): FigureAxis {
  const scale = fittedScale(values, Y_RANGE, 4, logFrom);
  return { scale, ticks: ticksOf(scale, scale.isLog ? 9 : 4), text };
}

function tokensOverTime(axis: TimeAxis, view: RequestView): Html {
  const title = 'Output token throughput';
  if (view.tokensPerSecond === null)
    return emptyFigure(title, 'The server does not report the tokens of every response.');
  const y = valueAxis([Math.max(...view.tokensPerSecond)], significant);
  return figure({
    title,
    caption: `tokens/s of ok requests, spread over the chunks of each response, per ${widthWords(view.bins)}`,
    legend: [],
    x: axis.x,
    y,
    behind: axis.behind,
    marks: [mark('line', overBins(axis, view, view.tokensPerSecond, y.scale), 'c4')],
  });
}

function endsOverTime(axis: TimeAxis, view: RequestView): Html {
  const { bins, okPerSecond, failedPerSecond } = view;
  const y = valueAxis([Math.max(...okPerSecond, ...failedPerSecond)], significant);
  const columns = failedPerSecond.map((value, bin) => {
    const from = bin * bins.widthSeconds;
    const to = binEnd(bins, bin);
    return { from: axis.x.scale(from), to: axis.x.scale(to), y: y.scale(value) };
  });
  return figure({
    title: 'Requests that ended',
    caption: `requests/s, per ${widthWords(bins)}`,
    legend: [
      { label: 'ok', style: 'c4' },
      { label: 'failed (error, timeout)', style: 'c3', mark: 'bars' },
    ],
    x: axis.x,
    y,
    behind: axis.behind,
    marks: [
      mark('bars', barsPath(columns, PLOT.bottom), 'c3'),
      mark('line', overBins(axis, view, okPerSecond, y.scale), 'c4'),
    ],
  });
}

function inFlightOverTime(axis: TimeAxis, view: RequestView): Html {
  const y = valueAxis([Math.max(...view.inFlight)], significant);
  return figure({
    title: 'Requests in flight',
    caption: `sent and not ended, mean of ${widthWords(view.bins)}`,
    legend: [],
    x: axis.x,
    y,
    behind: axis.behind,
    marks: [mark('line', overBins(axis, view, view.inFlight, y.scale), 'c5')],
  });
}

function overBins(axis: TimeAxis, { bins }: RequestView, values: readonly number[], y: Scale): string {
  return pathOf(values.map((value, bin) => [axis.middle(bins, bin), y(value)] as const));
}

function widthWords({ widthSeconds: seconds }: TimeBins): string {
  if (seconds >= 3600) return `${seconds / 3600} h`;
  return seconds >= 60 ? `${seconds / 60} min` : `${seconds} s`;
}
