import { detailsRow, lines, type RowSpec } from '../server/panel-spec.ts';
import { ServerQueries } from '../server/server-queries.ts';

/** The gateway before SGLang (smg, in-tree or standalone): its metrics have a port of their own. */
export function sglangGatewayRows(): RowSpec[] {
  const q = new ServerQueries({ systems: ['smg'], exporter: 'gateway' });
  return [
    detailsRow(12, 'Gateway: requests', [
      lines(
        'Requests',
        'Requests from clients, routed to a worker, and sent to a worker. If more are sent than routed, the gateway retries.',
        [
          q.rate('smg_http_requests_total', { as: 'from clients' }),
          q.rate('smg_router_requests_total', { as: 'routed' }),
          q.rate('smg_worker_requests_total', { as: 'sent' }),
        ],
      ),
      lines(
        'Answers by status',
        '499: the client disconnected, possibly before the end of a stream. 5xx: failures. 429, 503: rejected because of load.',
        [q.rate('smg_http_responses_total', { by: ['status_code'], as: '' })],
      ),
      lines(
        'Time at the gateway',
        'Time until the response headers, not until the end of a stream. The bucket bounds differ between releases.',
        [q.percentiles('smg_router_request_duration_seconds', [0.5, 0.99])],
      ),
      lines('Requests held', 'Requests that occupy a slot of the gateway now.', [
        q.gauge('smg_admission_inflight', { as: 'admitted' }),
      ]),
      lines('Shed', 'Requests rejected because every worker of the model was overloaded.', [
        q.rate('smg_worker_overload_shed_total', { by: ['stage'], as: '' }),
      ]),
      lines('Sent again', 'Requests sent again after the connection to a worker failed.', [
        q.rate('smg_router_upstream_send_retries_total', { as: 'sent again' }),
      ]),
    ]),
    detailsRow(13, 'Gateway: workers and cache-aware routing', [
      lines(
        'Requests by worker',
        'Requests in progress. If they are uneven, the policy favors the cache over the load.',
        [q.gauge('smg_worker_requests_active', { by: ['worker'], as: '' })],
      ),
      lines('Worker health', '1 healthy, 0 not, -1 removed.', [
        q.gauge('smg_worker_health', { by: ['worker'], as: '' }),
      ]),
      lines('Selections by policy', 'Workers chosen per second.', [
        q.rate('smg_worker_selection_total', { by: ['policy'], as: '' }),
      ]),
      lines(
        'Branch of the cache-aware policy',
        'tree_match: sent to the worker that has the prefix. spill: sent elsewhere, because that worker was too busy.',
        [q.rate('smg_cache_aware_policy_branch_total', { by: ['branch'], as: '' })],
      ),
      lines(
        'Prefix match',
        'Matched length ÷ input length at the best worker: what cache-aware routing can save.',
        [q.mean('smg_cache_aware_match_ratio', { as: 'mean' })],
        { max: 1 },
      ),
    ]),
  ];
}
