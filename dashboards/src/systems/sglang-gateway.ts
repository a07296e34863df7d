import { closedRow, lines, type RowSpec } from '../server/panel-spec.ts';
import { ServerQueries } from '../server/server-queries.ts';

/** The gateway before SGLang (smg, in-tree or standalone): its metrics have a port of their own. */
export function sglangGatewayRows(): RowSpec[] {
  const q = new ServerQueries({ systems: ['smg'], exporter: 'gateway' });
  return [
    closedRow(12, 'Gateway: requests', [
      lines('Requests', 'From clients, routed to a worker, sent to a worker. Sent above routed: retries.', [
        q.rate('smg_http_requests_total', { as: 'from clients' }),
        q.rate('smg_router_requests_total', { as: 'routed' }),
        q.rate('smg_worker_requests_total', { as: 'sent' }),
      ]),
      lines(
        'Answers by status',
        '499: the client went away, also one that did not read a stream to its end. 5xx: failures. 429, 503: shed.',
        [q.rate('smg_http_responses_total', { by: ['status_code'], as: '' })],
      ),
      lines(
        'Time at the gateway',
        'As if the clock stopped at the response headers: not the duration of a stream. The grid differs between releases.',
        [q.percentiles('smg_router_request_duration_seconds', [0.5, 0.99])],
      ),
      lines('Requests held', 'That hold a place in the gateway now.', [
        q.gauge('smg_admission_inflight', { as: 'admitted' }),
      ]),
      lines('Shed', 'Refused because every worker of the model was overloaded.', [
        q.rate('smg_worker_overload_shed_total', { by: ['stage'], as: '' }),
      ]),
      lines('Sent again', 'After a failure of the connection to a worker.', [
        q.rate('smg_router_upstream_send_retries_total', { as: 'sent again' }),
      ]),
    ]),
    closedRow(13, 'Gateway: workers and cache-aware routing', [
      lines('Requests by worker', 'In progress. Uneven: the policy favors cache over load.', [
        q.gauge('smg_worker_requests_active', { by: ['worker'], as: '' }),
      ]),
      lines('Worker health', '1 healthy, 0 not, -1 removed.', [
        q.gauge('smg_worker_health', { by: ['worker'], as: '' }),
      ]),
      lines('Selections by policy', 'Workers chosen per second.', [
        q.rate('smg_worker_selection_total', { by: ['policy'], as: '' }),
      ]),
      lines('Branch of the cache-aware policy', 'tree_match: to the worker with the prefix. spill: it was too busy.', [
        q.rate('smg_cache_aware_policy_branch_total', { by: ['branch'], as: '' }),
      ]),
      lines(
        'Prefix match',
        'Matched ÷ input length of the best worker: what cache-aware routing can win.',
        [q.mean('smg_cache_aware_match_ratio', { as: 'mean' })],
        { max: 1 },
      ),
    ]),
  ];
}
