import { stageText } from '../../../core/run/load.ts';
import { shortTitle } from '../../../core/measures/names.ts';
import { countOf, FAILED_OUTCOMES } from '../../../core/run/request-counts.ts';
import { worstVerdict } from '../../../core/run/objectives.ts';
import type { ResultFile, StageResult } from '../../../core/run/result.ts';
import { counted, quantity } from '../../../core/text/quantities.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { verdictCell } from '../words.ts';
import { distributionOf, scalarOf } from '../report-data.ts';

const PERCENTILES = ['p50', 'p99'] as const;
const LATENCIES = ['time_to_first_token', 'inter_token_latency', 'request_latency'] as const;

/** The stages of the load side by side; nothing without stages. */
export function stageSection({ stages }: ResultFile): Html {
  if (stages.length === 0) return html``;
  const hasSlos = stages.some(({ slos }) => slos.length > 0);
  const rows = stages.map(
    (stage) =>
      html`<tr>
        <th>${stage.stage}<small>${stageText(stage.load)}</small></th>
        <td>${counted(stage.requests.ok)}</td>
        <td>${counted(countOf(stage.requests, FAILED_OUTCOMES))}</td>
        <td>${scalar(stage, 'request_throughput')}</td>
        <td>${scalar(stage, 'output_token_throughput')}</td>
        ${LATENCIES.map((measure) => PERCENTILES.map((name) => html`<td>${latency(stage, measure, name)}</td>`))}
        ${hasSlos ? verdictCell(worstVerdict(stage.slos)) : null}
      </tr>`,
  );
  return html`<section>
    <h2>Stages</h2>
    <p>
      A request belongs to the stage in which it was due. All other figures of this page are of all stages together.
    </p>
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>Stage</th>
            <th>Ok</th>
            <th>Failed</th>
            <th>Requests</th>
            <th>Output tokens</th>
            ${LATENCIES.map((measure) => PERCENTILES.map((name) => html`<th>${shortTitle(measure)}<small>${name}</small></th>`))}
            ${hasSlos ? html`<th>Objectives</th>` : null}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </section>`;
}

function scalar(stage: StageResult, measure: string): string {
  const found = scalarOf(stage, measure);
  return quantity(found?.value ?? null, found?.unit ?? 'ratio');
}

function latency(stage: StageResult, measure: string, name: (typeof PERCENTILES)[number]): string {
  return quantity(distributionOf(stage, measure)?.percentiles[name].value ?? null, 'seconds');
}
