import { ABSENT, counted, quantity, quantityRange, significant } from '../../../core/measures/quantities.ts';
import type { DistributionResult, PercentileName, ResultFile } from '../../../core/run/result.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { measureTitle, populationWords, tooFew, unitWords } from '../words.ts';

const PERCENTILES = ['p50', 'p90', 'p95', 'p99', 'p99_9'] as const satisfies readonly PercentileName[];

/** Every distribution with its statistics: what result.json has but the lower percentiles. */
export function measures(result: ResultFile): Html {
  const failed = countOf(result.requests, FAILED_OUTCOMES);
  const populations = failed === 0 ? ['ok'] : ['ok', 'all'];
  const all = result.measures.filter((m) => m.kind === 'distribution');
  const shown = all.filter(({ n, population }) => n !== 0 && populations.includes(population));
  const absent = all.filter(({ n, population }) => n === 0 && population === 'ok');
  const failedNote =
    failed === null
      ? 'It is not known how many requests failed.'
      : failed > 0
        ? 'Latencies stand twice: over the ok requests, and over all of them with the failed ones as infinitely slow, where “–” is infinite.'
        : 'No request failed, so that the statistics over all requests are those of the ok ones.';
  return html`<section>
    <h2>All measures</h2>
    <p class="note">
      Percentiles are exact, linear between order statistics. Below each stands its 95 % interval of sampling, or
      [bounds] when it comes from buckets. Requests of one run are not independent: “effective n” is how many
      independent values would tell as much. “Too few”: not even five independent values are to be expected beyond the
      percentile, so that it is hardly more than a single value. ${failedNote}
    </p>
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>Measure</th>
            <th>n<small>effective n</small></th>
            <th>mean<small>deviation</small></th>
            <th>min</th>
            ${PERCENTILES.map((p) => html`<th>${p.replace('_', '.')}</th>`)}
            <th>max</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(row)}
        </tbody>
      </table>
    </div>
    ${
      absent.length === 0
        ? null
        : html`<p class="note">Without a value: ${absent.map((m) => measureTitle(m)).join(', ')}.</p>`
    }
  </section> `;
}

function row(measure: DistributionResult): Html {
  const { unit, n, effective_n, mean, std, min, max, definition } = measure;
  const value = (number: number | null): string => bare(quantity(number, unit), unit);
  const inUnit = unit === 'seconds' ? null : `, ${unitWords(unit)}`;
  return html`<tr>
    <th>
      ${measureTitle(measure)}${inUnit}<small>${populationWords(measure)} · ${definition.replaceAll('_', ' ')}</small>
    </th>
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

/** Units that are not scaled stand with the measure's name, not in every cell. */
function bare(text: string, unit: DistributionResult['unit']): string {
  return unit === 'seconds' ? text : text.replaceAll(` ${unitWords(unit)}`, '');
}
