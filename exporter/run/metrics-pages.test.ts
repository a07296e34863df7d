import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseTarget as parseUrl } from '../load/transports/target.ts';
import { DEFAULT_PAGE_LIMITS, PageClient } from '../servers/scrape/page-request.ts';
import { parseTarget } from '../servers/scrape/targets.ts';
import { metricsServer, page, type MetricsServer } from '../servers/testing/metrics-server.ts';
import { PageDiscovery, recognizedTargets } from './metrics-pages.ts';

describe('page discovery', () => {
  const servers: MetricsServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<MetricsServer> {
    const server = await metricsServer(answer);
    servers.push(server);
    return server;
  }

  const VLLM = '# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name="m"} 0\n';
  const INGRESS = '# TYPE nginx_ingress_controller_requests counter\nnginx_ingress_controller_requests 5\n';

  describe('the page below the prefix of an ingress', () => {
    test.each([
      ['/team-a/v1', 'not_metrics', '/team-a/metrics', VLLM, true],
      ['/gw/team-a/v1/chat/completions', 'not_metrics', '/gw/metrics', VLLM, true],
      ['/team-a', 'up', '/team-a/metrics', VLLM, true],
      ['/team-a/v1', 'not_metrics', '/team-a/metrics', INGRESS, false],
      ['/v1', 'not_metrics', '/team-a/metrics', VLLM, false],
    ] as const)('%s, when /metrics is %s: %s', async (path, state, place, text, isFound) => {
      const { origin } = await serving((request, response) => {
        if (request.url === place) page(response, text);
        else response.writeHead(404).end();
      });
      const { prefix } = parseUrl(`${origin}${path}`, { type: 'chat', path: '/v1/chat/completions' });
      const access = { headers: {}, tls: {} };
      const pages = { origins: [origin], prefixes: new Map([[origin, prefix]]), access, named: [] };
      const said: string[] = [];
      const discovery = new PageDiscovery(pages, (line) => said.push(line));
      const { own } = await discovery.search([{ target: parseTarget(origin), state, system: null }]);
      expect(own.map(({ url }) => url)).toEqual(isFound ? [`${origin}${place}`] : []);
      if (isFound) expect(said[0]).toMatch(`found metrics of ${origin}${place} `);
    });
  });

  describe('a redirect of a metrics page', () => {
    async function get(answer: (request: IncomingMessage, response: ServerResponse) => void, headers = {}) {
      const server = await serving(answer);
      const client = new PageClient(DEFAULT_PAGE_LIMITS, () => performance.now() * 1e6, { headers, tls: {} });
      try {
        return { server, answered: await client.get(`${server.origin}/metrics`) };
      } finally {
        await client.close();
      }
    }

    test.each([301, 302, 303, 307, 308])('%d is followed on the same origin', async (status) => {
      const { server, answered } = await get((request, response) => {
        if (request.url === '/metrics') response.writeHead(status, { location: '/metrics/' }).end('moved');
        else page(response, VLLM);
      });
      expect(answered).toMatchObject({ kind: 'page' });
      expect(server.asked).toEqual(['/metrics', '/metrics/']);
    });

    test('to another server is not: it could get the credentials', async () => {
      const other = await serving((_request, response) => page(response, VLLM));
      const { answered } = await get(
        (_request, response) => response.writeHead(307, { location: `${other.origin}/x?token=secret` }).end(),
        { authorization: 'Bearer key' },
      );
      expect(answered).toMatchObject({
        kind: 'status',
        message: `HTTP 307 to another server: --server-metrics ${other.origin}/x`,
      });
      expect(other.asked).toEqual([]);
    });

    test('that leads in a circle ends', async () => {
      const { server, answered } = await get((_request, response) =>
        response.writeHead(302, { location: '/metrics' }).end(),
      );
      expect(answered).toMatchObject({ kind: 'status', message: 'HTTP 302' });
      expect(server.asked).toEqual(['/metrics']);
    });

    test('without a destination', async () => {
      const { answered } = await get((_request, response) => response.writeHead(307).end());
      expect(answered).toMatchObject({ kind: 'status', message: 'HTTP 307' });
    });
  });
});

describe('recognized targets', () => {
  type Seen = Parameters<typeof recognizedTargets>[0][number];

  /** A target as its loop shows it. */
  function seen(address: string, facts: Partial<Omit<Seen, 'target'>> = {}): Seen {
    const target = parseTarget(address);
    return { target, system: target.system, state: 'up', drains: false, readUrl: target.name, ...facts };
  }

  const main = parseTarget('h:9000');
  const recognized = (loops: readonly Seen[], named: readonly string[]) =>
    recognizedTargets(loops, { mains: [main], named: named.map(parseTarget) });

  test("the server's own page identifies the system, regardless of other configured pages", () => {
    const loops = [seen('h:9000', { system: 'dynamo' }), seen('vllm=w:8001')];
    expect(recognized(loops, ['vllm=w:8001'])).toEqual({
      system: 'dynamo',
      urls: ['http://h:9000/metrics', 'http://w:8001/metrics'],
      read: [
        { target: 'http://h:9000/metrics', system: 'dynamo' },
        { target: 'http://w:8001/metrics', system: 'vllm' },
      ],
    });
  });

  test.each(['triton', 'smg'])('%s: the page that was named says it, the server has none', (system) => {
    const loops = [seen('h:9000', { state: 'not_metrics' }), seen('dcgm=h'), seen(`${system}=h:8102`)];
    expect(recognized(loops, ['dcgm=h', `${system}=h:8102`])).toEqual({
      system,
      urls: ['http://h:9400/metrics', 'http://h:8102/metrics'],
      read: [
        { target: 'http://h:9400/metrics', system: 'dcgm' },
        { target: 'http://h:8102/metrics', system },
      ],
    });
  });

  test('a page that was only discovered on this machine is listed and does not identify the system', () => {
    const loops = [seen('h:9000', { state: 'not_metrics' }), seen('127.0.0.1:8000', { system: 'vllm' })];
    expect(recognized(loops, [])).toMatchObject({ system: null, urls: ['http://127.0.0.1:8000/metrics'] });
  });

  test('the address that is read is listed, also before a named page answers; one that drains is only read', () => {
    const moved = seen('h:9000', { system: 'trtllm', readUrl: 'http://h:9000/prometheus/metrics' });
    const draining = seen('w:1', { system: 'trtllm', drains: true });
    const late = seen('w:2', { state: 'waiting' });
    expect(recognized([moved, draining, late], ['w:1', 'w:2'])).toEqual({
      system: 'trtllm',
      urls: ['http://h:9000/prometheus/metrics', 'http://w:2/metrics'],
      read: [
        { target: 'http://h:9000/metrics', system: 'trtllm' },
        { target: 'http://w:1/metrics', system: 'trtllm' },
      ],
    });
    expect(recognized([seen('h:9000', { state: 'waiting' })], []).urls).toEqual([]);
  });
});
