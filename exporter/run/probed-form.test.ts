import { afterEach, expect, test } from '@jest/globals';
import { openTransport, parseTargets } from '../load/transports/connection-options.ts';
import { syntheticDataset } from '../load/datasets/synthetic-dataset.ts';
import { chat } from '../load/endpoints/chat.ts';
import { ProbeError } from '../load/requests/probe.ts';
import type { RequestForm } from '../load/requests/request-feed.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { answer, GOOD_STREAM, scriptedServer, streamOf } from '../load/testing/scripted-server.ts';
import type { Script, ScriptedServer } from '../load/testing/scripted-server.ts';
import { probedForm } from './probed-form.ts';
import { until } from '../../core/testing/until.ts';

const NO_TLS = { caFile: null, certFile: null, keyFile: null, serverName: null, insecure: false };
const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of toClose.splice(0).reverse()) await thing.close();
});

const good: Script = (socket) => socket.write(streamOf(GOOD_STREAM));
const refusing: Script = (socket) => socket.write(answer('500 X', 'text/plain', 'no model'));
const withoutUsage: Script = (socket, { body }) => {
  if (body.includes('stream_options')) socket.write(answer('400 X', 'text/plain', 'unknown field stream_options'));
  else socket.write(streamOf(GOOD_STREAM));
};

interface Probed {
  readonly servers: readonly ScriptedServer[];
  readonly form: Promise<RequestForm>;
  readonly said: readonly string[];
}

async function probed(...scripts: readonly Script[]): Promise<Probed> {
  const servers = await Promise.all(scripts.map(scriptedServer));
  const targets = parseTargets(
    servers.map(({ origin }) => origin),
    chat.path,
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
  const request = { requestTimeoutSeconds: 10 };
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
