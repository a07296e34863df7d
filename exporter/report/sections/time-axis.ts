import { linearScale, valueTicks } from '../../../core/chart/scale.ts';
import { PLOT, X_RANGE } from '../figure.ts';
import type { ChartFigure } from '../figure.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { ReportData } from '../report-data.ts';
import { phaseSpans, stageSpans } from '../report-data.ts';
import { binEnd } from '../time-bins.ts';
import type { TimeBins } from '../time-bins.ts';

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
