import { ABSENT, counted, quantity, quantityRange, significant } from '../../../core/text/quantities.ts';
import type { DistributionResult, ResultFile } from '../../../core/run/result.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { distributionOf, scalarOf } from '../report-data.ts';
import { tooFew } from '../words.ts';

const LATENCIES = [
  ['time_to_first_token', 'Time to first token'],
  ['inter_token_latency', 'Inter-token latency'],
  ['request_latency', 'Request latency'],
] as const;

/** The key figures, each percentile with its interval. */
export function tiles(result: ResultFile): Html {
  return html`<section class="tiles" aria-label="Main results">
    ${LATENCIES.map(([measure, title]) => latencyTile(title, distributionOf(result, measure)))}
    ${throughputTile(result)} ${errorsTile(result)}
  </section> `;
}

function latencyTile(title: string, measure: DistributionResult | undefined): Html | null {
  if (measure === undefined) return null;
  const { percentiles, unit, n, effective_n } = measure;
  const rows = (['p50', 'p90', 'p99'] as const).map((name) => {
    const { value, ci95, bounds } = percentiles[name];
    const interval = ci95 ?? bounds;
    return html`<tr>
      <th>${name}</th>
      <td><b class="${name === 'p50' ? 'big' : ''}">${quantity(value, unit)}</b></td>
      <td>${interval === null ? tooFew(measure, name) : quantityRange(interval, unit)}</td>
    </tr>`;
  });
  const effective = effective_n === null ? '' : `, effective ${significant(Math.floor(effective_n))}`;
  return html`<div class="tile">
    <h3>${title}</h3>
    <table>
      ${rows}
    </table>
    <p class="apart"><span>n ${counted(n)}${effective}</span><span>95 % intervals</span></p>
  </div>`;
}

function throughputTile(result: ResultFile): Html {
  const value = (measure: string): string => {
    const found = scalarOf(result, measure);
    return found === undefined ? ABSENT : quantity(found.value, found.unit);
  };
  return html`<div class="tile">
    <h3>Throughput of ok requests</h3>
    <p class="big">${value('output_token_throughput')}</p>
    <p>output, at full load <b>${value('steady_output_token_throughput')}</b></p>
    <p>input and output <b>${value('total_token_throughput')}</b></p>
    <p><b>${value('request_throughput')}</b></p>
  </div>`;
}

function errorsTile(result: ResultFile): Html {
  const { ok, error, timeout, cancelled } = result.requests;
  const failed = countOf(result.requests, FAILED_OUTCOMES);
  const ratio = scalarOf(result, 'error_ratio')?.value ?? null;
  return html`<div class="tile">
    <h3>Errors</h3>
    <p class="big ${failed === null ? '' : failed === 0 ? 'good' : 'bad'}">
      ${failed === 0 ? '0' : quantity(ratio, 'ratio')}
    </p>
    <p><b>${counted(ok)}</b> requests ok</p>
    <p><b>${counted(error)}</b> error, <b>${counted(timeout)}</b> timeout</p>
    <p><b>${counted(cancelled)}</b> cancelled by the client</p>
  </div>`;
}
