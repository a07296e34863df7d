import { FIRST_TOKEN_PARTS } from '../../../core/measures/first-token-time.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { firstTokenTimeOf } from '../../servers/summary/first-token-parts.ts';
import { dataTable, headOfText, html, type Html } from '../html.ts';
import type { ReportData } from '../report-data.ts';

const COLORS = 6;

/** Where the mean time to first token goes, as one bar; nothing if no server observes it. */
export function firstTokenSection({ result, servers }: Pick<ReportData, 'result' | 'servers'>): Html | null {
  const time = servers === null ? null : firstTokenTimeOf(result, servers.series);
  if (time === null) return null;
  const notes = time.notes.map((note) => html`<p class="note">${note}</p>`);
  const title = html`<h2>Where the time to first token goes</h2>`;
  if (time.parts === null) return html`${title}${notes}`;
  const whole = time.parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const color = (i: number): string => `background:var(--c${(i % COLORS) + 1})`;
  const bar = time.parts.map(
    ({ seconds }, i) => html`<span style="width:${((seconds / whole) * 100).toFixed(3)}%;${color(i)}"></span>`,
  );
  const rows = time.parts.map(
    ({ part, seconds, families }, i) =>
      html`<tr>
        <th><span class="share" style="width:8px;${color(i)}"></span> ${FIRST_TOKEN_PARTS[part]}</th>
        <td>${quantity(seconds, 'seconds')}</td>
        <td>${quantity(seconds / whole, 'ratio')}</td>
        <td class="text">${families.map((family) => html`<small><code>${family}</code></small>`)}</td>
      </tr>`,
  );
  const total = html`<tr>
    <th>Together</th>
    <td>${quantity(whole, 'seconds')}</td>
    <td></td>
    <td></td>
  </tr>`;
  return html`${title}
    <p class="note">
      Means over the same requests add up: each part is a sum of the servers’ histograms in the window, divided by the
      requests. What no part explains is not attributed.
    </p>
    <div class="stack">${bar}</div>
    ${dataTable(['Part', 'Mean', 'Share', headOfText('From')], [...rows, total])}${notes}`;
}
