import { capitalized } from '../../../core/measures/names.ts';
import { things } from '../../../core/text/quantities.ts';
import { scenarioText } from '../../judge/compare.ts';
import type { ComparedMeasure, Explanation, VerdictReport } from '../../../core/api/comparison.ts';
import type { VerdictName } from '../../../core/api/verdict.ts';
import { documentOf } from '../../report/document.ts';
import { Html, html } from '../../report/html.ts';
import {
  explanationSummary,
  signalCells,
  SIGNAL_HEAD,
  anchorLines,
  effectLines,
  figureCells,
  findingText,
  intervalText,
  isOpenByRate,
  leftOutLines,
  OUTCOMES,
  RATE_LEGEND,
  runsCell,
  shownMeasures,
  stateLines,
  verdictCell,
} from './verdict-text.ts';

const STYLES: Readonly<Record<VerdictName, string>> = {
  regressed: 'bad',
  suspect: 'warn',
  undecided: 'warn',
  unchanged: 'good',
  improved: 'good',
};
/** Of the plot of an effect, in pixels. */
const WIDTH = 180;
const HEIGHT = 18;

/** A comparison as one self-contained HTML page, for someone who has neither the runs nor llmbench. */
export function verdictHtml(report: VerdictReport): string {
  const { verdict, sentence, preflight, runs, explanation, next_command: next } = report;
  const shown = shownMeasures(report);
  const scenario = scenarioText(report);
  const reach = plotReach(shown);
  const notes = [
    ...(shown.length === 0 ? [] : effectLines(report)),
    ...(shown.some(isOpenByRate) ? [RATE_LEGEND] : []),
  ];
  return documentOf(
    `${verdict}: ${scenario}`,
    html`<header>
        <h1>${scenario}<span class="status ${STYLES[verdict]}">${verdict}</span></h1>
        ${stateLines(report).map((line) => html`<p class="alert">${capitalized(line)}</p>`)}
        <p>${sentence}</p>
        <ul class="facts">
          <li>A, baseline <b>${things(runs.a.length, 'runs')}</b></li>
          <li>B, compared <b>${things(runs.b.length, 'runs')}</b></li>
          <li>Design <b>${report.design}</b></li>
        </ul>
        ${preflight.map(
          (finding) =>
            html`<p class="alert ${finding.outcome === 'failed' ? '' : 'mild'}">
              <b>${capitalized(OUTCOMES[finding.outcome])}:</b> ${findingText(finding, report.design)}
            </p>`,
        )}
        ${anchorLines(report).map((line) => html`<p class="note">Anchor: ${line}</p>`)}
      </header>
      ${shown.length === 0 ? null : measureTable(shown, reach)}
      ${notes.map((note) => html`<p class="note">${note}</p>`)}
      ${
        next === null
          ? null
          : html`<h2>To decide</h2>
              <p><code>${next}</code></p>`
      }
      ${explanation === null ? null : signals(explanation)}
      <h2>Runs</h2>
      <div class="card">
        <table class="data">
          ${runRow('A', runs.a)} ${runRow('B', runs.b)}
          ${leftOutLines(report).map(
            (line) =>
              html`<tr>
                <th>Left out</th>
                <td class="text">${line}</td>
              </tr>`,
          )}
        </table>
      </div>
      <footer>llmbench compare · contains no prompts or responses</footer>`,
  );
}

function measureTable(shown: readonly ComparedMeasure[], reach: number): Html {
  const head = ['verdict', 'A', 'B', 'effect', 'interval', '', 'margin', 'runs'];
  return html`<h2>Measures</h2>
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>measure</th>
            ${head.map((name) => html`<th>${name}</th>`)}
          </tr>
        </thead>
        ${shown.map((measure) => {
          const [a, b, effect, interval, margin] = figureCells(measure);
          return html`<tr>
            <th>${capitalized(measure.title)}${measure.gating ? html`<small>decides the verdict</small>` : null}</th>
            <td class="${STYLES[measure.verdict]}">${verdictCell(measure)}</td>
            <td>${a}</td>
            <td>${b}</td>
            <td>${effect}</td>
            <td>${interval}</td>
            <td>${effectPlot(measure, reach)}</td>
            <td>${margin}</td>
            <td>${runsCell(measure)}</td>
          </tr>`;
        })}
      </table>
    </div>
    <p class="note">
      A and B: medians over the runs. Plot: interval of the effect, beside the margin around no change.
    </p>`;
}

function runRow(side: string, ids: readonly string[]): Html {
  return html`<tr>
    <th>${side}</th>
    <td class="text">${ids.map((id) => html`<code>${id}</code> `)}</td>
  </tr>`;
}

function signals(explanation: Explanation): Html {
  return html`<h2>Server signals</h2>
    ${explanationSummary(explanation).map((line) => html`<p class="note">${capitalized(line)}</p>`)}
    ${
      explanation.signals.length === 0
        ? null
        : html`<div class="card">
            <table class="data">
              <thead>
                <tr>
                  ${SIGNAL_HEAD.map((name) => html`<th>${name}</th>`)}
                  <th class="text">look at</th>
                </tr>
              </thead>
              ${explanation.signals.map(
                (signal) =>
                  html`<tr>
                    ${signalCells(signal).map((cell) => html`<td>${cell}</td>`)}
                    <td class="text">${signal.look_at}</td>
                  </tr>`,
              )}
            </table>
          </div>`
    }`;
}

/** The largest change that the plots show, as a logarithm: of the finite ends, at least two margins. */
function plotReach(shown: readonly ComparedMeasure[]): number {
  const ends = shown.flatMap(({ effect, margin }) => [
    2 * Math.log1p(margin),
    ...(effect === null ? [] : [effect.low, effect.estimate, effect.high].map((end) => Math.abs(Math.log(end)))),
  ]);
  return Math.max(...ends.filter(Number.isFinite));
}

function effectPlot({ effect, margin, verdict }: ComparedMeasure, reach: number): Html | null {
  if (effect === null || !(effect.estimate > 0) || effect.estimate === Infinity) return null;
  const x = (ratio: number): number =>
    Math.round(10 * (WIDTH / 2) * (1 + Math.max(-1, Math.min(1, Math.log(ratio) / reach)))) / 10;
  const middle = HEIGHT / 2;
  const [from, to] = [x(1 / (1 + margin)), x(1 + margin)];
  const color = new Html(`var(--${STYLES[verdict]})`);
  return html`<svg
    width="${WIDTH}"
    height="${HEIGHT}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label="${intervalText({ effect })}"
  >
    <rect class="phase" x="${from}" y="0" width="${Math.round(10 * (to - from)) / 10}" height="${HEIGHT}" />
    <path class="edge" d="M ${WIDTH / 2} 0 V ${HEIGHT}" />
    <path style="stroke: ${color}; stroke-width: 2" d="M ${x(effect.low)} ${middle} H ${x(effect.high)}" />
    <circle style="fill: ${color}" cx="${x(effect.estimate)}" cy="${middle}" r="3.5" />
  </svg>`;
}
