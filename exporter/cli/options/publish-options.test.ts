import { describe, expect, test } from '@jest/globals';
import { readOptions } from './options.ts';
import { PUBLISH_OPTIONS, requestedGrafanaLink, requestedOutgoing } from './publish-options.ts';

const outgoing = (argv: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  requestedOutgoing(readOptions(PUBLISH_OPTIONS, argv, environment));

const URL = ['--remote-write-url', 'http://host/api/v1/write'];

test('without an author none is recorded', () => {
  expect(outgoing(['--remote-write-interval', '5'])).toBeNull();
});

test('a receiver, from flags and environment', () => {
  const request = outgoing(
    [
      ...['--remote-write-label', 'job=bench', '--remote-write-label', 'note=a=b'],
      ...['--remote-write-header', 'X-Scope-OrgID: team', '--remote-write-header-env', 'X-Key:KEY'],
    ],
    { LLMBENCH_REMOTE_WRITE_URL: 'http://host/api/v1/write', LLMBENCH_REMOTE_WRITE_PROTOCOL: '1' },
  );
  expect(request).toMatchObject({
    grafana: null,
    remoteWrite: {
      receiver: {
        url: 'http://host/api/v1/write',
        protocol: '1',
        headers: { 'x-scope-orgid': 'team' },
        headerVariables: { 'x-key': 'KEY' },
      },
      intervalSeconds: 1,
      nativeHistograms: 'none',
      maxQueueBytes: 256e6,
      labels: { job: 'bench', note: 'a=b' },
    },
  });
});

test('a Grafana alone', () => {
  expect(outgoing(['--grafana-url', 'http://host:3000', '--grafana-token-env', 'TOKEN'])).toEqual({
    remoteWrite: null,
    grafana: { url: 'http://host:3000', token: { environmentVariable: 'TOKEN', file: null }, dashboardUid: null },
  });
});

test('a Grafana without a token gets no annotations: it is only linked to', () => {
  expect(outgoing(['--grafana-url', 'http://host:3000'])).toBeNull();
  expect(() => outgoing(['--grafana-url', 'host'])).toThrow('--grafana-url must be an http or https address');
  expect(requestedGrafanaLink('https://u:secret@host/grafana/?token=x')).toBe('https://host/grafana');
});

describe('refused', () => {
  test.each<[readonly string[], RegExp]>([
    [['--remote-write-header', 'Content-Type: text/plain'], /content-type is set by the HTTP client/],
    [['--remote-write-header', 'X-Prometheus-Remote-Write-Version:9'], /is set by the HTTP client/],
    [['--remote-write-header', 'geheim'], /must be NAME: VALUE/],
    [['--remote-write-header', 'x-key: a\nb'], /must be NAME: VALUE/],
    [['--remote-write-label', '__name__=x'], /must be NAME=VALUE/],
    [['--remote-write-label', 'a b=x'], /must be NAME=VALUE/],
    [['--remote-write-protocol', '3'], /one of auto, 1, 2/],
    [['--remote-write-interval', '0'], /from 0.1 to 3600/],
  ])('%j', (argv, message) => {
    expect(() => outgoing([...URL, ...argv])).toThrow(message);
  });
});
