import { quantity } from '../../../core/text/quantities.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { formulaOf, heading } from '../words.ts';

/** The scalar measures with their definitions. */
export function scalars(result: ResultFile): Html {
  const rows = result.measures
    .filter((m) => m.kind === 'scalar')
    .map(
      (scalar) =>
        html`<tr>
          <th>${heading(scalar)}</th>
          <td>${quantity(scalar.value, scalar.unit)}</td>
          <td class="text">${formulaOf(scalar)}</td>
          <td class="text">${scalar.population === 'ok' ? 'ok' : 'all'}</td>
        </tr> `,
    );
  return html`<section>
    <h2>Scalar measures</h2>
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>Measure</th>
            <th>Value</th>
            <th class="text">Definition</th>
            <th class="text">Requests</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </section> `;
}
