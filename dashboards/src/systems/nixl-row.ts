import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import { ServerQueries } from '../server/server-queries.ts';
import type { Choice } from '../variables.ts';

/** The agents of NIXL have pages, and so addresses, of their own. */
export const NIXL_AGENT: Choice = {
  name: 'nixl_agent',
  label: 'NIXL agents',
  description: 'Addresses of the pages of NIXL agents in the servers; all unless some are chosen',
  family: 'agent_xfer_time_total',
  of: 'instance',
};

const APART = { by: ['agent_name'] };

/** KV transfers as NIXL itself counts them, whichever engine uses it. */
export function nixlRow(id: number): RowSpec {
  const q = new ServerQueries({ systems: ['nixl'], exporter: 'nixl_agent' });
  return detailsRow(id, 'NIXL agents', [
    lines('Transfer time of NIXL', 'From the start of a transfer to its completion, and until it was posted.', [
      q.percentiles('agent_xfer_time_us', [0.5, 0.99], { ...APART, as: 'transfer' }),
      q.percentiles('agent_xfer_post_time_us', [0.99], { ...APART, as: 'post' }),
    ]),
    lines('Bytes of NIXL', 'Sent and received by each agent, per second.', [
      q.rate('agent_tx_bytes_total', { ...APART, as: 'sent' }),
      q.rate('agent_rx_bytes_total', { ...APART, as: 'received' }),
    ]),
    lines('Errors of NIXL', 'By status. Errors of the back end and lost remotes are those of the network.', [
      q.rate('agent_errors_total', { by: ['agent_name', 'status'], as: '' }),
    ]),
  ]);
}
