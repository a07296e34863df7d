import { px } from '../../core/chart/path.ts';
import type { Scale } from '../../core/chart/scale.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';

/** All charts have the same size and plot area, so that their time axes align. */
export const WIDTH = 560;
export const HEIGHT = 242;
/** For the labels of the x axis. */
export const BOTTOM_MARGIN = 40;
export const PLOT = { left: 62, right: WIDTH - 14, top: 12, bottom: HEIGHT - BOTTOM_MARGIN } as const;

export const X_RANGE = [PLOT.left, PLOT.right] as const;
export const Y_RANGE = [PLOT.bottom, PLOT.top] as const;

export interface LegendEntry {
  readonly label: string;
  /** The CSS class of the color, the same as that of the mark. */
  readonly style: string;
  readonly mark?: 'line' | 'dots' | 'bars' | 'hollow' | 'ring' | 'diamond';
}

/** An axis with the values at which it is labeled. */
export interface FigureAxis {
  readonly scale: Scale;
  readonly ticks: readonly number[];
  readonly text: (value: number) => string;
}

export interface ChartFigure {
  readonly title: string;
  /** The definition of the shown values, in one line. */
  readonly caption: string;
  readonly legend: readonly LegendEntry[];
  readonly x: FigureAxis & { readonly label: string };
  readonly y: FigureAxis;
  /** Unless it is that of the other charts. */
  readonly height?: number;
  /** Background behind the grid: the phases. */
  readonly behind?: Html;
  readonly marks: readonly Html[];
}

/** A chart with title, caption and legend, without scripts. */
export function figure({ title, caption, legend, x, y, height = HEIGHT, behind, marks }: ChartFigure): Html {
  const bottom = height - BOTTOM_MARGIN;
  return html`<figure>
    <figcaption><strong>${title}</strong> <span>${caption}</span></figcaption>
    ${legend.length === 0 ? null : legendOf(legend)}
    <svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}: ${caption}">
      ${behind ?? null} ${y.ticks.map((tick) => horizontal(y.scale(tick), y.text(tick)))}
      ${x.ticks.map((tick) => vertical(x.scale(tick), bottom, x.text(tick)))}
      <path class="axis" d="M${PLOT.left},${bottom}H${PLOT.right}" />
      <text class="axis-label" x="${PLOT.right}" y="${height - 3}" text-anchor="end">${x.label}</text>
      ${y.scale.isLog ? html`<text class="axis-label" x="2" y="${height - 3}">log scale</text>` : null} ${marks}
    </svg>
  </figure> `;
}

/** What is drawn with one path; nothing when it is empty. */
export function mark(kind: 'line' | 'dots' | 'bars', path: string, style: string): Html {
  return path === '' ? html`` : html`<path class="${kind} ${style}" d="${path}" />`;
}

/** An empty chart with the reason. */
export function emptyFigure(title: string, why: string | Html): Html {
  return html`<figure class="empty">
    <figcaption><strong>${title}</strong></figcaption>
    <p>${why}</p>
  </figure> `;
}

function legendOf(entries: readonly LegendEntry[]): Html {
  return html`<ul class="legend">
    ${entries.map(
      ({ label, style, mark = 'line' }) =>
        html`<li><svg viewBox="0 0 22 10" aria-hidden="true">${swatch(mark, style)}</svg>${label}</li>`,
    )}
  </ul>`;
}

function swatch(mark: NonNullable<LegendEntry['mark']>, style: string): Html {
  if (mark === 'dots') return html`<path class="dots ${style}" d="M4,6h0M10,3h0M15,7h0M19,4h0" />`;
  if (mark === 'bars') return html`<path class="bars ${style}" d="M4,10V3H10V10zM12,10V0H18V10z" />`;
  if (mark === 'hollow') return html`<circle class="point hollow ${style}" cx="11" cy="5" r="3.6" />`;
  if (mark === 'ring') return html`<circle class="mark ${style}" cx="11" cy="5" r="4.2" />`;
  if (mark === 'diamond') return html`<path class="mark ${style}" d="M11,0L16,5L11,10L6,5z" />`;
  return html`<path class="line ${style}" d="M1,5H21" />`;
}

function horizontal(y: number, text: string): Html {
  return html`<path class="grid" d="M${PLOT.left},${px(y)}H${PLOT.right}" /><text
      x="${PLOT.left - 7}"
      y="${px(y + 4)}"
      text-anchor="end"
      >${text}</text
    > `;
}

function vertical(x: number, bottom: number, text: string): Html {
  return html`<path class="grid" d="M${px(x)},${PLOT.top}V${bottom}" /><text
      x="${px(x)}"
      y="${bottom + 17}"
      text-anchor="middle"
      >${text}</text
    > `;
}
