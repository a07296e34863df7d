import { quantity } from '../../../core/measures/quantities.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { ReportData } from '../report-data.ts';

/** What makes the run comparable, as run.json has it, its fingerprint, and what is known of the client. */
export function configuration({ run, result }: ReportData): Html {
  // The definitions stand with the measures.
  const key = Object.entries(run.comparison_key).filter(([name]) => name !== 'measure_definitions');
  const { client } = result;
  const leaves = flattened(Object.fromEntries(key));
  const unset = leaves.filter(([, value]) => value === null).map(([name]) => name);
  const rows: (readonly [string, string])[] = [
    ...leaves.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    [
      'run',
      [run.run_id, ...named('group', run.group_id), ...named('step', run.step), ...named('repeat', run.repeat)].join(
        ', ',
      ),
    ],
    ['target', run.target.origin ?? 'not known'],
    ['start', run.start ?? 'not known'],
    ['end', run.end ?? 'not known'],
    ['client', client.why === null ? client.verdict : `${client.verdict}: ${client.why}`],
    [
      'client event-loop delay',
      `p99 ${quantity(client.event_loop_delay_p99_seconds, 'seconds')}, max ${quantity(client.event_loop_delay_max_seconds, 'seconds')}`,
    ],
    ['client CPU', quantity(client.cpu_seconds, 'seconds')],
  ];
  return html`<section>
    <h2>Configuration</h2>
    <p class="note">
      Runs are comparable when their fingerprints are equal: the SHA-256 of the comparison key in run.json, whose values
      these are, with the definitions of the measures.
    </p>
    <div class="card">
      <table class="data">
        <tbody>
          <tr>
            <th>fingerprint</th>
            <td class="text"><code>${run.fingerprint}</code></td>
          </tr>
          ${rows.map(
            ([name, value]) =>
              html`<tr>
                <th>${name}</th>
                <td class="text">${value}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="note">Not set, or not known: ${unset.join(', ')}.</p>
  </section> `;
}

function named(name: string, value: string | number | null): string[] {
  return value === null ? [] : [`${name} ${value}`];
}

/** The leaves of the key with their paths; null is what was not set or is not known. */
function flattened(value: unknown, path = ''): (readonly [name: string, value: string | null])[] {
  if (value === null) return [[path, null]];
  if (typeof value !== 'object') return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  const inside = path === '' ? '' : `${path} `;
  return Object.entries(value).flatMap(([key, member]) => flattened(member, `${inside}${key.replaceAll('_', ' ')}`));
}
