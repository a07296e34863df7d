import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from '../../core/testing/until.ts';
import { readOptions } from '../cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../cli/options/run-options.ts';
import { syntheticDataset } from '../load/datasets/synthetic-dataset.ts';
import { chat } from '../load/endpoints/openai.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { ProbeError } from '../load/requests/probe.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import { selfSignedCertificate, VALID } from '../load/testing/certificate.ts';
import {
  response,
  GOOD_STREAM,
  scriptedServer,
  streamOf,
  type Script,
  type ScriptedServer,
} from '../load/testing/scripted-server.ts';
import { openTransport, parseTargets } from '../load/transports/open-transport.ts';
import { probedForm, onlyModel } from './probed-form.ts';
import type { RunRequest } from './run-request.ts';

describe('probed form', () => {
  const NO_TLS = { caFile: null, certFile: null, keyFile: null, serverName: null, insecure: false };
  const toClose: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const thing of toClose.splice(0).reverse()) await thing.close();
  });

  const good: Script = (socket) => socket.write(streamOf(GOOD_STREAM));
  const refusing: Script = (socket) => socket.write(response('500 X', 'text/plain', 'no model'));
  const withoutUsage: Script = (socket, { body }) => {
    if (body.includes('stream_options')) socket.write(response('400 X', 'text/plain', 'unknown field stream_options'));
    else socket.write(streamOf(GOOD_STREAM));
  };

  interface Probed {
    readonly servers: readonly ScriptedServer[];
    readonly form: Promise<RequestForm>;
    readonly said: readonly string[];
  }

  const probed = (...scripts: readonly Script[]): Promise<Probed> => probedWithin(0, ...scripts);

  async function probedWithin(waitReadySeconds: number, ...scripts: readonly Script[]): Promise<Probed> {
    const servers = await Promise.all(scripts.map(scriptedServer));
    const targets = parseTargets(
      servers.map(({ origin }) => origin),
      chat,
    );
    const connection = { unixSocket: null, connectTimeoutSeconds: 5, transport: 'auto', tls: NO_TLS } as const;
    const transport = await openTransport(targets, connection, []);
    toClose.push(...servers, transport);
    const given: RequestForm = {
      endpoint: chat,
      path: chat.path,
      headers: {},
      dataset: syntheticDataset({ inputTokens: 5, outputTokens: 8, seed: 1 }),
      options: { model: 'm', sampling: {}, includeUsage: true },
    };
    const request = { requestTimeoutSeconds: 10, waitReadySeconds };
    const said: string[] = [];
    const rest = { secrets: [], controls: new RunControls(), say: (line: string): unknown => said.push(line) };
    return { servers, said, form: probedForm(given, { request, targets, transport, ...rest }) };
  }

  test('every server gets one probe', async () => {
    const { servers, form } = await probed(good, good, good);
    expect((await form).options.includeUsage).toBe(true);
    expect(servers.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
  });

  test('one of several that cannot be measured is named', async () => {
    const { servers, form } = await probed(good, refusing);
    await expect(form).rejects.toThrow(ProbeError);
    await expect(form).rejects.toThrow(servers[1]?.origin);
  });

  test('token counts are requested of all or of none: each gets the same requests', async () => {
    const { form } = await probed(good, withoutUsage, good);
    expect((await form).options.includeUsage).toBe(false);
  });

  const rejecting =
    (field: string): Script =>
    (socket, { body }) =>
      socket.write(
        body.includes(`"${field}"`) ? response('400 X', 'text/plain', `unknown ${field}`) : streamOf(GOOD_STREAM),
      );

  test('what one server rejects is sent to none: those before it are probed again', async () => {
    const { servers, form, said } = await probed(good, rejecting('max_tokens'), rejecting('stream_options'));
    expect((await form).options).toMatchObject({ lengthField: 'max_completion_tokens', includeUsage: false });
    for (const { requests } of servers) {
      const last = JSON.parse(requests.at(-1)?.body ?? '') as object;
      expect(last).toHaveProperty('max_completion_tokens', 8);
      expect(last).not.toHaveProperty('max_tokens');
      expect(last).not.toHaveProperty('stream_options');
    }
    expect(said).toEqual([
      'the server rejects max_tokens: max_completion_tokens is sent instead (--max-tokens-field max_completion_tokens does so at once)',
      'the server rejects stream_options and reports token counts without it',
    ]);
  });

  test('servers that contradict each other are refused', async () => {
    const { form } = await probed(rejecting('max_completion_tokens'), rejecting('max_tokens'));
    await expect(form).rejects.toThrow('max_completion_tokens');
  });

  describe('a server that is not ready', () => {
    const LOADING = response('503 X', 'application/json', '{"error":{"message":"Loading model","code":503}}');

    test('is refused, with the option that waits', async () => {
      const { form } = await probed((socket) => socket.write(LOADING));
      await expect(form).rejects.toThrow(
        /: HTTP 503: Loading model\. --wait-ready SECONDS waits for a server that is not ready$/,
      );
    });

    test('is waited for, and the wait is announced once', async () => {
      const { servers, form, said } = await probedWithin(60, (socket, { position }) =>
        socket.write(position < 2 ? LOADING : streamOf(GOOD_STREAM)),
      );
      await form;
      expect(servers[0]?.requests).toHaveLength(3);
      expect(said).toEqual([
        `waiting until the server is ready, at most 60 s: ${servers[0]?.origin}: HTTP 503: Loading model`,
      ]);
    });

    test('is refused when the time is over', async () => {
      const { form } = await probedWithin(0.1, (socket) => socket.write(LOADING));
      await expect(form).rejects.toThrow(/Loading model.*\(not ready after 0 s\)$/);
    });

    test('and one that rejects the request is not waited for', async () => {
      const { form } = await probedWithin(60, refusing);
      await expect(form).rejects.toThrow('HTTP 500: no model');
    });
  });

  test('a stream with another content type is measured, and reported', async () => {
    const asText: Script = (socket) =>
      socket.write(streamOf(GOOD_STREAM).replace('text/event-stream', 'text/plain; charset=utf-8'));
    const { servers, form, said } = await probed(good, asText);
    await form;
    expect(said).toEqual([
      `${servers[1]?.origin} sends streams as 'text/plain; charset=utf-8' instead of 'text/event-stream': proxies may buffer them`,
    ]);
  });

  test('a server that takes long to respond gets a line meanwhile', async () => {
    let respond = (): void => undefined;
    const { servers, form, said } = await probed((socket) => {
      respond = () => void socket.write(streamOf(GOOD_STREAM));
    });
    await until(() => said.length !== 0);
    expect(said).toEqual([`waiting for ${servers[0]?.origin} to respond to the probe request, at most 10 s`]);
    respond();
    await form;
  });
});

describe('only model', () => {
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
        message: expect.stringMatching(
          /TLS failed \(.*\)\. Set --tls-ca to the certificates of the authority to trust$/,
        ),
      });
    } finally {
      server.close();
    }
  });
});
