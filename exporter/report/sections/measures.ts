import { statName } from '../../../core/measures/names.ts';
import { ABSENT, counted, quantity, quantityRange, significant } from '../../../core/text/quantities.ts';
import type { DistributionResult, ResultFile } from '../../../core/run/result.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { heading, populationWords, tooFew, unitWords } from '../words.ts';

const PERCENTILES = ['p50', 'p90', 'p95', 'p99', 'p99_9'] as const satisfies readonly PercentileName[];

/** Every distribution with its statistics: the content of result.json except the lower percentiles. */
export function measures(result: ResultFile): Html {
  const failed = countOf(result.requests, FAILED_OUTCOMES);
  const populations = failed === 0 ? ['ok'] : ['ok', 'all'];
  const all = result.measures.filter((m) => m.kind === 'distribution');
  const shown = all.filter(({ n, population }) => n !== 0 && populations.includes(population));
  const absent = all.filter(({ n, population }) => n === 0 && population === 'ok');
  const failedNote =
    failed === null
      ? 'The number of failed requests is unknown.'
      : failed > 0
        ? 'Latencies are listed twice: over ok requests, and over all requests with failed ones as infinitely slow, where “–” means infinite.'
        : 'No request failed, so the statistics over all requests equal those over ok requests.';
  return html`<section>
    <h2>All measures</h2>
    <p class="note">
      Percentiles are exact, linear between order statistics. Below each percentile is its 95 % sampling interval, or
      [bounds] if it comes from buckets. Requests of one run are not independent: “effective n” is the number of
      independent values with the same information. “Too few”: fewer than five independent values are expected beyond
      the percentile, so it depends on a few single values. ${failedNote}
    </p>
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>Measure</th>
            <th>n<small>effective n</small></th>
            <th>mean<small>deviation</small></th>
            <th>min</th>
            ${PERCENTILES.map((p) => html`<th>${statName(p)}</th>`)}
            <th>max</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(row)}
        </tbody>
      </table>
    </div>
    ${absent.length === 0 ? null : html`<p class="note">Without a value: ${absent.map(heading).join(', ')}.</p>`}
  </section> `;
}

function row(measure: DistributionResult): Html {
  const { unit, n, effective_n, mean, std, min, max, definition } = measure;
  const value = (number: number | null): string => bare(quantity(number, unit), unit);
  const inUnit = unit === 'seconds' ? null : `, ${unitWords(unit)}`;
  return html`<tr>
    <th>${heading(measure)}${inUnit}<small>${populationWords(measure)} · ${definition.replaceAll('_', ' ')}</small></th>
    <td>${counted(n)}<small>${effective_n === null ? ABSENT : significant(Math.floor(effective_n))}</small></td>
    <td>${value(mean)}${std === null ? null : html`<small>± ${value(std)}</small>`}</td>
    <td>${value(min)}</td>
    ${PERCENTILES.map((name) => percentileCell(measure, name))}
    <td>${value(max)}</td>
  </tr> `;
}

function percentileCell(measure: DistributionResult, name: PercentileName): Html {
  const { unit } = measure;
  const { value, ci95, bounds } = measure.percentiles[name];
  const range = (ends: readonly [number, number]): string => bare(quantityRange(ends, unit), unit);
  const below = ci95 !== null ? range(ci95) : bounds !== null ? `[${range(bounds)}]` : tooFew(measure, name);
  return html`<td>${bare(quantity(value, unit), unit)}${below === null ? null : html`<small>${below}</small>`}</td>`;
}

/** Units that are not scaled are shown with the measure's name, not in every cell. */
function bare(text: string, unit: DistributionResult['unit']): string {
  return unit === 'seconds' ? text : text.replaceAll(` ${unitWords(unit)}`, '');
}
