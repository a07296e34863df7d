import { gzipSync } from 'node:zlib';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Express } from 'express';
import { request } from 'undici';
import { RunList, RunLibrary } from '../publish/views/run-library.ts';
import { storeSource } from '../publish/run-reader.ts';
import { rolesFile } from './access/roles.ts';
import { ROLES, type Role } from '../../core/api/service.ts';
import { roleAccess, sha256 } from './access/access.ts';
import type { StartRun } from '../starts/run-queue.ts';
import { serviceStarts } from '../starts/starts.ts';
import { hostCheck } from './allowed-host.ts';
import { createApi } from './api/api.ts';
import { describedOperations } from './api/fixtures/openapi.ts';
import { storeRuns, type StoredRuns } from './api/fixtures/stored-runs.ts';
import { listen, type Listening } from './listen.ts';
import { createServeApp } from './serve-app.ts';
import { webGuard } from './web-config/web-guard.ts';
import { parseWebConfig, type WebConfig } from './web-config/web-config.ts';

/** Of `test`, with the lowest cost: what a password costs is tested with the guard. */
const HASH = '$2b$04$bmjsd2AZignz315k/Seize7qa4PIsN6q/OzKSzS773MTnRgkIvFgq';
const WEB_CONFIG = parseWebConfig(`basic_auth_users: { ana: ${HASH}, bo: ${HASH} }`, 'web.yml');

let webConfig: WebConfig = WEB_CONFIG;

let runs: StoredRuns;
let folder: string;
let file: string;
let server: Listening;
let app: Express;
let api: Express;
const problems: string[] = [];

/** A token for each set of roles. */
const tokenOf = (roles: readonly Role[]): string => `token-with-${roles.join('-and-') || 'nothing'}`;
const everyRoleBut = (role: string): readonly Role[] => ROLES.filter((each) => each !== role);
const SETS = [[], [...ROLES], ...ROLES.map((role) => [role]), ...ROLES.map(everyRoleBut)];

const configure = (more = ''): Promise<void> => {
  const tokens = SETS.map(
    (roles, i) => `  t${i}: { token_sha256: ${sha256(tokenOf(roles)).toString('hex')}, roles: [${roles.join(', ')}] }`,
  );
  return writeFile(file, `users:\n  ana: [read]\ntokens:\n${tokens.join('\n')}\n${more}`);
};

beforeAll(async () => {
  runs = await storeRuns();
  folder = await mkdtemp(join(tmpdir(), 'llmbench-roles-'));
  file = join(folder, 'roles.yml');
  await configure();
  const problem = (line: string): void => void problems.push(line);
  const list = new RunList(runs.store);
  const allowed = join(folder, 'allowed.yml');
  await writeFile(allowed, 'scenarios: { smoke: { arguments: [--isl, 8], probe: true } }');
  const startRun: StartRun = () => ({
    ended: Promise.resolve({ exitCode: 1, output: null, message: 'nothing is run here' }),
    stop: () => undefined,
  });
  const options = {
    started: serviceStarts({
      ...{ file: allowed, startRun, problem },
      ...{ runsDirectory: runs.store.directory, problemOf: () => null },
    }),
    library: new RunLibrary(runs.store, list, problem),
    source: storeSource(runs.store, list),
    access: roleAccess(rolesFile(file, (name) => WEB_CONFIG.users.has(name), problem)),
    hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
    ...{ version: '0.1.0', problem },
  };
  app = createServeApp({ ...options, guard: webGuard(() => webConfig, options.access.needsNoUser) });
  api = createApi(options);
  server = await listen(app, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await runs.remove();
  await rm(folder, { recursive: true });
});

/** Method and path of every route of an application. */
function routesOf(of: Express): string[] {
  const routes = of.router.stack.flatMap(({ route }) => {
    if (route === undefined) return [];
    const paths = [route.path].flat().map((path) => String(path).replaceAll(/:(\w+)/g, '{$1}'));
    return paths.flatMap((path) => route.stack.map(({ method }) => `${method.toUpperCase()} ${path}`));
  });
  return [...new Set(routes)].sort();
}

const PAGES = ['/', '/runs/{run_id}', '/runbooks/{page}', '/metrics', '/sd'].map((path) => ({
  ...{ method: 'GET', path, role: 'read' },
}));
const PROBE = { method: 'GET', path: '/probe', role: 'start-runs' };
const WITHOUT_ROLE = ['/-/healthy', '/-/ready'];
const OPERATIONS = [
  ...describedOperations().map(({ method, path, role }) => ({ method, path: `/api/v1${path}`, role })),
  ...PAGES,
  { ...PROBE, path: '/probe?scenario=smoke' },
];

/** A path with an example of each of its parameters. */
const filled = (path: string): string =>
  path
    .replace('{run_id}', 'first')
    .replace('scenarios/{name}', 'scenarios/long')
    .replace('{name}', 'models')
    .replace('{sweep_id}', 'x')
    .replace('{page}', 'LlmbenchScenarioRegressed.md');

async function status(method: string, path: string, authorization: string | null): Promise<number> {
  const response = await fetch(`${server.url}${filled(path)}`, {
    method,
    redirect: 'manual',
    headers: authorization === null ? {} : { authorization },
  });
  await response.arrayBuffer();
  return response.status;
}
const bearer = (roles: readonly Role[]): string => `Bearer ${tokenOf(roles)}`;
const basic = (user: string, password: string): string => `Basic ${btoa(`${user}:${password}`)}`;

describe('no route is reachable without its role', () => {
  test('every route is known here', () => {
    const isSchema = (route: string): boolean => route.endsWith('.schema.json');
    expect(routesOf(api).filter(isSchema)).not.toEqual([]);
    const ofApi = describedOperations().map(({ method, path }) => `${method} ${path}`);
    expect(routesOf(api).filter((route) => !isSchema(route))).toEqual(ofApi.sort());
    const ofPages = [...[...PAGES, PROBE].map(({ path }) => path), ...WITHOUT_ROLE].map((path) => `GET ${path}`);
    expect(routesOf(app)).toEqual(ofPages.sort());
  });

  test.each(OPERATIONS)('$method $path requires $role', async ({ method, path, role }) => {
    expect(ROLES).toContain(role);
    expect(await status(method, path, null)).toBe(401);
    expect(await status(method, path, 'Bearer of-no-one')).toBe(401);
    expect(await status(method, path, bearer([]))).toBe(403);
    expect(await status(method, path, bearer(everyRoleBut(role)))).toBe(403);
    expect([401, 403]).not.toContain(await status(method, path, bearer([role as Role])));
    expect([401, 403]).not.toContain(await status(method, path, bearer(ROLES)));
    expect((await status(method, path, basic('ana', 'test'))) === 403).toBe(role !== 'read');
    // A user of the web configuration file without a role.
    expect(await status(method, path, basic('bo', 'test'))).toBe(403);
  });

  test.each(['/nowhere', '/api/v1/nowhere', '/API/v1/runs', '//metrics', '/api/v1/run.schema.json'])(
    'GET %s shows nothing either',
    async (path) => {
      expect(await status('GET', path, bearer([]))).toBe(403);
      expect(await status('GET', path, null)).toBe(401);
    },
  );

  test.each(['PUT', 'DELETE', 'PATCH', 'POST'])('%s is allowed nowhere else', async (method) => {
    expect(await status(method, '/api/v1/runs/first', bearer(ROLES))).toBe(405);
    expect(await status(method, '/metrics', bearer(ROLES))).toBe(405);
  });

  test('a wrong password is no user', async () => {
    expect(await status('GET', '/metrics', basic('ana', 'wrong'))).toBe(401);
  });

  test.each(WITHOUT_ROLE)('%s requires no role, but a user where there are users', async (path) => {
    expect(await status('GET', path, bearer([]))).toBe(200);
    expect(await status('GET', path, null)).toBe(401);
  });
});

describe('every route is limited', () => {
  const all = [...OPERATIONS, ...WITHOUT_ROLE.map((path) => ({ method: 'GET', path }))];
  const send = async (path: string, method: 'GET' | 'POST', body: string | Buffer, encoding = 'identity') => {
    const type = { 'content-type': 'application/json', 'content-encoding': encoding };
    const headers = { authorization: bearer(ROLES), ...type };
    const response = await request(`${server.url}${filled(path)}`, { method, headers, body });
    await response.body.dump();
    return response.statusCode;
  };

  test.each(all.filter(({ method }) => method === 'GET'))('GET $path has no body', async ({ path }) => {
    expect(await send(path, 'GET', 'x')).toBe(400);
  });

  const compressed = gzipSync(Buffer.alloc(50_000_000, ' '));

  test.each(all.filter(({ method }) => method === 'POST'))('the body of POST $path is limited', async ({ path }) => {
    const large = JSON.stringify({ scenario: 'x'.repeat(200_000) });
    expect(await send(path, 'POST', large)).toBe(413);
    // The limit is that of the decompressed body.
    expect(await send(path, 'POST', compressed, 'gzip')).toBe(413);
  });

  test('the rate limit of the web configuration applies before credentials are checked', async () => {
    webConfig = { ...WEB_CONFIG, rateLimit: { interval_ms: 1e9, burst: 1 } };
    try {
      expect(await status('GET', '/-/healthy', bearer([]))).toBe(200);
      for (const { method, path } of all) {
        expect([path, await status(method, path, basic('ana', 'wrong'))]).toEqual([path, 429]);
      }
    } finally {
      webConfig = WEB_CONFIG;
    }
  });
});

test('the status names the roles of the client', async () => {
  const of = async (roles: readonly Role[]): Promise<unknown> =>
    (await fetch(`${server.url}/api/v1/status`, { headers: { authorization: bearer(roles) } })).json();
  expect(await of(ROLES)).toMatchObject({ roles: [...ROLES].sort(), allows_baseline_changes: true });
  expect(await of(['read'])).toMatchObject({ roles: ['read'], allows_baseline_changes: false });
});

test('changes of the file apply to the next request; a mistake is reported and changes nothing', async () => {
  await configure('anonymous: [read]\n');
  expect(await status('GET', '/metrics', null)).toBe(200);
  expect(await status('POST', '/api/v1/runs/first/tags', null)).toBe(401);
  await configure('anonymous: [everything]\n');
  expect(await status('GET', '/metrics', null)).toBe(200);
  const reported = problems.filter((line) => line.startsWith(file));
  expect(reported).toEqual([expect.stringContaining("anonymous has the unknown value 'everything'")]);
  await configure();
  expect(await status('GET', '/metrics', null)).toBe(401);
});

describe('POST /runs/{run_id}/tags', () => {
  const change = async (body: unknown, run = 'first', roles: readonly Role[] = ['annotate']) => {
    const headers = { authorization: bearer(roles), 'content-type': 'application/json' };
    const url = `${server.url}/api/v1/runs/${run}/tags`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as { detail?: string } };
  };

  test('adds and removes, as `runs tag` does', async () => {
    const { tags } = await runs.store.readRun('first');
    const added = await change({ add: ['release-1.4', 'candidate'] });
    expect(added).toEqual({
      status: 200,
      body: { run_id: 'first', tags: [...tags, 'candidate', 'release-1.4'].sort() },
    });
    await change({ remove: ['candidate'] });
    expect((await runs.store.readRun('first')).tags).toEqual([...tags, 'release-1.4'].sort());
  });

  test.each([
    [{}, 400, 'add or remove must name a tag'],
    [{ add: ['a b'] }, 400, 'add is \'["a b"]\' and must be at most 100 tags of 1 to 64 characters'],
    [{ add: ['a'], remove: ['a'] }, 400, 'a is to be added and removed'],
    [{ add: ['a'], note: 'x' }, 400, 'note is not a parameter here'],
  ])('%j is %d: %s', async (body, expected, detail) => {
    const refused = await change(body);
    expect([refused.status, refused.body.detail]).toEqual([expected, expect.stringContaining(detail)]);
  });

  test('a run that does not exist is 404', async () => {
    expect((await change({ add: ['a'] }, 'nowhere')).status).toBe(404);
  });
});
