import { capitalized, measureOfName, statisticTitle } from '../../../core/measures/names.ts';
import { quantity, quantityRange } from '../../../core/text/quantities.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { verdictCell } from '../words.ts';

/** The objectives of the run and the evidence; nothing if the run has none. */
export function objectives({ slos }: ResultFile): Html {
  if (slos.length === 0) return html``;
  const rows = slos.map(({ measure, stat, comparison, limit, unit, value, interval, verdict, why }) => {
    const range = interval === null ? '' : quantityRange(interval, unit);
    return html`<tr>
      <th>${capitalized(statisticTitle({ ...measureOfName(measure), stat: stat ?? 'value' }))}</th>
      <td>${comparison} ${quantity(limit, unit)}</td>
      <td>${quantity(value, unit)}<small>${range}</small></td>
      ${verdictCell(verdict)}
      <td class="text">${why}</td>
    </tr>`;
  });
  return html`<section>
    <h2>Objectives</h2>
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>Objective</th>
            <th>Limit</th>
            <th>Value<small>95 % interval</small></th>
            <th>Verdict</th>
            <th class="text"></th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </section> `;
}
