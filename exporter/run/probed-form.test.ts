import { afterEach, describe, expect, test } from '@jest/globals';
import { openTransport, parseTargets } from '../load/transports/open-transport.ts';
import { syntheticDataset } from '../load/datasets/synthetic-dataset.ts';
import { chat } from '../load/endpoints/openai.ts';
import { ProbeError } from '../load/requests/probe.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { response, GOOD_STREAM, scriptedServer, streamOf } from '../load/testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../load/testing/scripted-server.ts';
import { probedForm } from './probed-form.ts';
import { until } from '../../core/testing/until.ts';

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
