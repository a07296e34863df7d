import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { readOptions } from '../cli/options/options.ts';
import { response, scriptedServer, type Script, type ScriptedServer } from '../load/testing/scripted-server.ts';
import { selfSignedCertificate, VALID } from '../load/testing/certificate.ts';
import { onlyModel } from './only-model.ts';
import type { RunRequest } from './run-request.ts';

const servers: ScriptedServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function requestTo(url: string): RunRequest {
  const argv = ['--url', url, '--model', 'unknown', '--concurrency', '1', '--request-count', '1'];
  const options = readOptions(RUN_OPTIONS, [...argv, '--api-key-env', 'KEY'], {});
  return runRequests(options)[0] as RunRequest;
}

async function asking(script: Script, path = ''): Promise<string> {
  const server = await scriptedServer(script);
  servers.push(server);
  return onlyModel(requestTo(`${server.origin}${path}`), { KEY: 'sk-secret-1' });
}

const listing =
  (...ids: readonly string[]): Script =>
  (socket) =>
    socket.write(
      response('200 OK', 'application/json', JSON.stringify({ object: 'list', data: ids.map((id) => ({ id })) })),
    );

test('the only model of a server', async () => {
  expect(await asking(listing('meta/llama'))).toBe('meta/llama');
});

test('the list is next to the endpoint, and requested with the credentials', async () => {
  await asking(listing('llama'), '/proxy/v1/chat/completions');
  expect(servers[0]?.requests).toHaveLength(1);
  expect(servers[0]?.requests[0]?.head).toMatch(/^GET \/proxy\/v1\/models HTTP\/1\.1\r\n/);
  expect(servers[0]?.requests[0]?.head).toMatch(/^authorization: Bearer sk-secret-1\r?$/im);
});

test.each([
  ['several', listing('llama', 'qwen'), /^--model is required: http:\S+ has 2 models: llama, qwen$/],
  ['none', listing(), /^--model is required: http:\S+ lists no model, check that one is loaded$/],
  [
    'no such list',
    (socket) => socket.write(response('404 X', 'application/json', '{"data":[{"id":"not a model"}]}')),
    /^--model is required: http:\S+ does not list models at \/v1\/models$/,
  ],
  [
    'another document',
    (socket) => socket.write(response('200 OK', 'text/html', '<h1>hello</h1>')),
    /does not list models at \/v1\/models$/,
  ],
  ['a name that repeats the key', listing('a', 'sk-secret-1'), /has 2 models: a, \*\*\*$/],
] satisfies [string, Script, RegExp][])('%s', async (_name, script, message) => {
  await expect(asking(script)).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringMatching(message),
  });
});

const saying =
  (status: string, body: unknown): Script =>
  (socket) =>
    socket.write(response(status, 'application/json', JSON.stringify(body)));

test.each([
  ['a bare list of models', [{ id: 'llama', object: 'model' }]],
  ['a bare list of names', ['llama']],
  ['the list of Ollama', { models: [{ name: 'llama' }] }],
])('%s', async (_name, list) => {
  expect(await asking(saying('200 OK', list))).toBe('llama');
});

test.each([
  ['loads its model', saying('503 X', { error: { message: 'Loading model' } }), /503: Loading model\. --wait-ready/],
  ['requires a key', saying('401 X', { error: { message: 'no key' } }), /401: no key\. Check the API key/],
  ['lists something else', saying('200 OK', [{ a: 1 }]), /does not list models/],
] satisfies [string, Script, RegExp][])('a server that %s', async (_name, script, message) => {
  await expect(asking(script)).rejects.toThrow(message);
});

test('a server that is not there', async () => {
  const server = await scriptedServer(() => undefined);
  await server.close();
  await expect(onlyModel(requestTo(server.origin), { KEY: 'k' })).rejects.toMatchObject({
    reason: 'connect_refused',
    message: `${server.origin}: connection refused. Check that the server runs, and host and port of --url`,
  });
});

test('a certificate of an unknown authority: the option that names it', async () => {
  const server = createServer(selfSignedCertificate(VALID));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await expect(onlyModel(requestTo(`https://localhost:${port}`), { KEY: 'k' })).rejects.toMatchObject({
      reason: 'tls',
      message: expect.stringMatching(/TLS failed \(.*\)\. Set --tls-ca to the certificates of the authority to trust$/),
    });
  } finally {
    server.close();
  }
});
