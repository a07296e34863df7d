import { shellCommand } from '../../../core/text/shell-word.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { provenanceFacts } from '../../../core/run/provenance.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { ReportData } from '../report-data.ts';

/** The comparison key of run.json, the fingerprint, the dataset's options, the command and what is known of the client. */
export function configuration({ run, result }: ReportData): Html {
  // The definitions are listed with the measures.
  const key = Object.entries(run.comparison_key).filter(([name]) => name !== 'measure_definitions');
  const { client } = result;
  const leaves = flattened(Object.fromEntries(key));
  const unset = leaves.filter(([, value]) => value === null).map(([name]) => name);
  const options = flattened({ dataset: run.dataset });
  const rows: (readonly [string, string])[] = [
    ...leaves.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    [
      'run',
      [run.run_id, ...named('group', run.group_id), ...named('step', run.step), ...named('repeat', run.repeat)].join(
        ', ',
      ),
    ],
    ...options.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    ['command', run.command_line === null ? 'unknown' : shellCommand(run.command_line)],
    ...(run.provenance === null ? [] : provenanceFacts(run.provenance)),
    ['target', run.target.origin ?? 'unknown'],
    ['start', run.start ?? 'unknown'],
    ['end', run.end ?? 'unknown'],
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
      Runs are comparable if their fingerprints are equal. The fingerprint is the SHA-256 of the comparison key in
      run.json: the values up to <code>streaming</code> and the definitions of the measures. The dataset’s options
      determine its <code>dataset plan sha256</code>.
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
    <p class="note">Not set or unknown: ${unset.join(', ')}.</p>
  </section> `;
}

function named(name: string, value: string | number | null): string[] {
  return value === null ? [] : [`${name} ${value}`];
}

/** The leaves of the key with their paths; null if not set or unknown. */
function flattened(value: unknown, path = ''): (readonly [name: string, value: string | null])[] {
  if (value === null) return [[path, null]];
  if (typeof value !== 'object') return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
  const inside = path === '' ? '' : `${path} `;
  return Object.entries(value).flatMap(([key, member]) => flattened(member, `${inside}${key.replaceAll('_', ' ')}`));
}
