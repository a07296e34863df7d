import { ERROR_REASON_RULES } from '../../../core/measures/error-reasons.ts';
import { quantity, significant } from '../../../core/text/quantities.ts';
import { ERROR_REASONS, OUTCOMES } from '../../../core/run/record.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import { countOf } from '../../../core/run/request-counts.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';

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
    <div class="card">
      <table class="data">
        <thead>
          <tr>
            <th>Reason</th>
            <th class="text">Meaning</th>
            <th>Requests</th>
            <th>Share</th>
            <th class="text"></th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
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
          )}
        </tbody>
      </table>
    </div>
  </section> `;
}
