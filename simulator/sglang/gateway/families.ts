import { loadCatalog } from '../../../catalog/load.ts';
import { PageFamilies } from '../../metrics/page-families.ts';
import { GATEWAY_PAGE } from './page.ts';

/** Families that appear with their first sample only: none of it was on the page that was recorded. */
const ON_ERRORS = [
  'smg_router_upstream_send_retries_total',
  'smg_router_request_errors_total',
  'smg_worker_errors_total',
];

/** The families of a page of smg. */
export class GatewayFamilies extends PageFamilies {
  constructor() {
    const helps = new Map(loadCatalog('smg').families.map(({ name, help }) => [name, help]));
    const further = ON_ERRORS.map((name) => [name, helps.get(name) ?? ''] as const);
    super({ catalogs: ['smg'], entries: [...GATEWAY_PAGE, ...further] });
  }
}
