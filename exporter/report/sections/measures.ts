import { acceptanceByPosition, SPECULATION_MEASURES } from '../../../core/measures/scalar-results.ts';
import { ERROR_REASONS, OUTCOMES, countOf, FAILED_OUTCOMES, ERROR_REASON_RULES } from '../../../core/run/record.ts';
import { statName, shortTitle, capitalized, measureOfName, statisticTitle } from '../../../core/measures/names.ts';
import { stageText } from '../../../core/run/load.ts';
import { worstVerdict } from '../../../core/run/objectives.ts';
import {
  distributionOf,
  scalarOf,
  type DistributionResult,
  type LoadFit,
  type ResultFile,
  type StageResult,
} from '../../../core/run/result.ts';
import type { RunFile } from '../../../core/run/run.ts';
import type { PercentileName } from '../../../core/stats/percentiles.ts';
import { ABSENT, counted, quantity, quantityRange, significant } from '../../../core/text/quantities.ts';
import { dataTable, headBelow, headOfText, html, type Html } from '../html.ts';
import { latenciesOf } from '../report-data.ts';
import { heading, populationWords, tooFew, unitWords, formulaOf, verdictCell } from '../words.ts';

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
    ${dataTable(
      [
        'Measure',
        headBelow('n', 'effective n'),
        headBelow('mean', 'deviation'),
        'min',
        ...PERCENTILES.map(statName),
        'max',
      ],
      shown.map(row),
    )}
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
    ${dataTable(['Measure', 'Value', headOfText('Definition'), headOfText('Requests')], rows)}
  </section> `;
}

const STAGE_PERCENTILES = ['p50', 'p99'] as const;

/** A population of its own within a run: the requests of a stage, or to a model. */
type Part = Pick<StageResult, 'requests' | 'measures' | 'slos'> & { readonly name: Html };

/** The stages of the load side by side; nothing without stages. */
export function stageSection({ stages }: ResultFile): Html {
  const parts = stages.map((stage) => ({
    ...stage,
    name: html`${stage.stage}<small>${stageText(stage.load)}</small>`,
  }));
  const note =
    'A request belongs to the stage in which it was due. All other figures of this page are of all stages together.';
  return partSection('Stages', 'Stage', note, parts);
}

/** The models of the load side by side; nothing for a run with one. */
export function modelSection({ breakdown = [] }: ResultFile): Html {
  const parts = breakdown
    .filter(({ by }) => by === 'model')
    .map((part) => ({ ...part, slos: part.slos ?? [], name: html`${part.value}` }));
  const note =
    'Each model, or adapter, has the requests that were sent to it. All other figures of this page are of all models together.';
  return partSection('Models', 'Model', note, parts);
}

function partSection(title: string, head: string, note: string, parts: readonly Part[]): Html {
  const [first] = parts;
  if (first === undefined) return html``;
  const hasSlos = parts.some(({ slos }) => slos.length > 0);
  const documents = parts.some((part) => (scalarOf(part.measures, 'document_throughput')?.value ?? null) !== null);
  const throughput = documents ? 'document_throughput' : 'output_token_throughput';
  const latencies = latenciesOf(first);
  const rows = parts.map(
    (part) =>
      html`<tr>
        <th>${part.name}</th>
        <td>${counted(part.requests.ok)}</td>
        <td>${counted(countOf(part.requests, FAILED_OUTCOMES))}</td>
        <td>${scalar(part, 'request_throughput')}</td>
        <td>${scalar(part, throughput)}</td>
        ${latencyCells(part, latencies)} ${hasSlos ? verdictCell(worstVerdict(part.slos)) : null}
      </tr>`,
  );
  const heads = [
    head,
    'Ok',
    'Failed',
    'Requests',
    documents ? 'Documents' : 'Output tokens',
    ...latencyHeads(latencies),
  ];
  return html`<section>
    <h2>${title}</h2>
    <p>${note}</p>
    ${dataTable([...heads, ...(hasSlos ? ['Objectives'] : [])], rows)}
  </section>`;
}

const latencyHeads = (latencies: readonly string[]): Html[] =>
  latencies.flatMap((measure) => STAGE_PERCENTILES.map((name) => headBelow(shortTitle(measure), name)));

const latencyCells = (part: Pick<Part, 'measures'>, latencies: readonly string[]): Html[] =>
  latencies.flatMap((measure) => STAGE_PERCENTILES.map((name) => html`<td>${latency(part, measure, name)}</td>`));

/** First and later turns of conversations side by side, and the later ones by number; nothing without conversations. */
export function turnSection(result: ResultFile): Html {
  const turns = (result.breakdown ?? []).filter(({ by }) => by === 'turn');
  if (turns.length === 0) return html``;
  const latencies = latenciesOf(result);
  const mean = (measure: string, of: Pick<Part, 'measures'>): string => {
    const found = distributionOf(of.measures, measure);
    return quantity(found?.mean ?? null, found?.unit ?? 'seconds');
  };
  const { complete = null, incomplete = null } = result.conversations ?? {};
  // What the client added to the waits of the graph; and how far recorded times were kept, if the input has them.
  const ofWait = (turn: Pick<Part, 'measures'>, measure: string): DistributionResult | undefined =>
    distributionOf(turn.measures, measure, 'ok', measure === 'schedule_delay' ? 'due' : 'sent');
  const waits = ['schedule_delay', 'start_deviation'].filter((measure) =>
    turns.some((turn) => (ofWait(turn, measure)?.n ?? 0) > 0),
  );
  return html`<section>
    <h2>Turns of conversations</h2>
    <p class="note">
      Conversations: ${counted(complete)} complete, ${counted(incomplete)} incomplete; mean duration
      ${mean('conversation_duration', result)}, of which ${mean('conversation_serving_time', result)} with a request in
      flight. Pauses of users and tools are in no latency; the schedule delay is what the client added to them.
    </p>
    ${dataTable(
      [
        ...['Turn', 'Ok', 'Failed', headBelow('Input', 'mean'), 'Cache hits', ...latencyHeads(latencies)],
        ...waits.map((measure) => headBelow(shortTitle(measure), 'p99')),
      ],
      turns.map(
        (turn) =>
          html`<tr>
            <th>${turn.value}</th>
            <td>${counted(turn.requests.ok)}</td>
            <td>${counted(countOf(turn.requests, FAILED_OUTCOMES))}</td>
            <td>${mean('input_sequence_length', turn)}</td>
            <td>${scalar(turn, 'cached_input_ratio')}</td>
            ${latencyCells(turn, latencies)}
            ${waits.map((name) => html`<td>${quantity(ofWait(turn, name)?.percentiles.p99.value ?? null, 'seconds')}</td>`)}
          </tr>`,
      ),
    )}
  </section>`;
}

function scalar(part: Pick<Part, 'measures'>, measure: string): string {
  const found = scalarOf(part.measures, measure);
  return quantity(found?.value ?? null, found?.unit ?? 'ratio');
}

function latency(part: Pick<Part, 'measures'>, measure: string, name: (typeof STAGE_PERCENTILES)[number]): string {
  return quantity(distributionOf(part.measures, measure)?.percentiles[name].value ?? null, 'seconds');
}

/** The hit rate of prefix caches that the plan makes possible beside the measured ones; nothing if the plan does not know it. */
export function prefixCacheSection({ prefix_cache: cache }: ResultFile): Html {
  if (cache === undefined) return html``;
  const rows = [
    [
      'Possible',
      cache.possible_ratio,
      `earlier requests of the plan had these tokens, in whole blocks of ${cache.block_tokens}`,
    ],
    ['By usage', cache.usage_ratio, 'cached ÷ all input tokens in the usage of the responses'],
    ['By the servers', cache.server_ratio, "cached ÷ all prompt tokens of the servers' own counters"],
  ] as const;
  return html`<section>
    <h2>Prefix cache</h2>
    ${dataTable(
      ['Hit rate', 'Value', headOfText('Meaning')],
      rows.map(
        ([name, ratio, meaning]) =>
          html`<tr>
            <th>${name}</th>
            <td>${quantity(ratio, 'ratio')}</td>
            <td class="text">${meaning}</td>
          </tr>`,
      ),
    )}
    ${cache.why.map((line) => html`<p class="note">Below possible: ${line}.</p>`)}
  </section>`;
}

/** What the model kept of the drafts of speculative decoding; nothing if no server counts them. */
export function speculationSection(result: ResultFile): Html {
  const { speculation } = result;
  if (speculation === undefined) return html``;
  const { drafts, draft_tokens: proposed, accepted_tokens: accepted } = speculation;
  const positions = acceptanceByPosition(speculation) ?? [];
  const rows: readonly (readonly [name: string, value: string, meaning: string])[] = [
    [
      'Acceptance rate',
      scalar(result, SPECULATION_MEASURES.speculative_acceptance_rate.measure),
      `accepted ÷ proposed draft tokens: ${counted(accepted)} of ${counted(proposed)}`,
    ],
    [
      'Acceptance length',
      scalar(result, SPECULATION_MEASURES.speculative_acceptance_length.measure),
      `accepted draft tokens ÷ ${counted(drafts)} drafts + 1, the token that the model gives itself`,
    ],
    ...positions.map(
      (share, i) => [`Position ${i + 1}`, quantity(share, 'ratio'), 'drafts whose token there was accepted'] as const,
    ),
  ];
  return html`<section>
    <h2>Speculative decoding</h2>
    ${dataTable(
      ['', 'Value', 'Meaning'],
      rows.map(
        ([name, value, meaning]) =>
          html`<tr>
            <th>${name}</th>
            <td>${value}</td>
            <td class="text">${meaning}</td>
          </tr>`,
      ),
    )}
  </section>`;
}

const FIT_NAMES: Readonly<Record<LoadFit['quantity'], string>> = {
  request_rate: 'Requests over time',
  input_tokens: 'Prompt lengths',
  output_tokens: 'Response lengths',
  cached_input_ratio: 'Cached prompt tokens',
};

/** How well the run fits the recorded load that its plan reproduces; nothing if it reproduces none. */
export function loadFitSection({ load_fit: fit }: ResultFile, { dataset }: RunFile): Html {
  const source = dataset?.recorded_load;
  if (fit === undefined || source === undefined) return html``;
  const { prometheus, selector, start, end, compress, scale } = source;
  const changed = [...(compress === 1 ? [] : [`time ÷ ${compress}`]), ...(scale === 1 ? [] : [`rate × ${scale}`])];
  return html`<section>
    <h2>Recorded load</h2>
    <p class="note">
      The plan reproduces the load of <code>${selector}</code> in ${prometheus} from ${start} to
      ${end}${changed.map((change) => `, ${change}`)}.
    </p>
    ${dataTable(
      ['Load', 'Recorded', 'This run', 'Distance'],
      fit.map(
        ({ quantity: name, unit, source: recorded, achieved, distance }) =>
          html`<tr>
            <th>${FIT_NAMES[name]}</th>
            <td>${quantity(recorded, unit)}</td>
            <td>${quantity(achieved, unit)}</td>
            <td>${quantity(distance, 'ratio')}</td>
          </tr>`,
      ),
    )}
    <p class="note">
      Values are means. The distance is the largest difference of the cumulative shares: of requests over time, of
      lengths at the bounds of the servers’ buckets; of cached tokens the difference of the ratios. Lengths of the run
      include the chat template.
    </p>
  </section>`;
}

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
    ${dataTable(['Objective', 'Limit', headBelow('Value', '95 % interval'), 'Verdict', headOfText('')], rows)}
  </section> `;
}

/** Why requests were not ok, most frequent reason first; nothing if all were ok. */
export function errors({ errors: byReason, requests }: ResultFile): Html {
  const rows = ERROR_REASONS.flatMap((reason) => {
    const count = byReason[reason] ?? 0;
    return count === 0 ? [] : [{ reason, count }];
  }).sort((a, b) => b.count - a.count);
  if (rows.length === 0) return html``;
  const most = rows[0]?.count ?? 0;
  const all = countOf(requests, OUTCOMES);
  return html`<section>
    <h2>Unsuccessful requests</h2>
    ${dataTable(
      ['Reason', headOfText('Meaning'), 'Requests', 'Share', headOfText('')],
      rows.map(
        ({ reason, count }) =>
          html`<tr>
            <td><code>${reason}</code></td>
            <td class="text">${ERROR_REASON_RULES[reason]}</td>
            <td>${significant(count)}</td>
            <td>${quantity(all === null ? null : count / all, 'ratio')}</td>
            <td class="text">
              <span class="share" style="width:${Math.max(1, Math.round((count / most) * 160))}px"></span>
            </td>
          </tr>`,
      ),
    )}
  </section> `;
}
