import { render, screen } from '@testing-library/react';
import React from 'react';
import type { FirstTokenTime } from '../../../../core/measures/first-token-time.ts';
import type { ResultFile } from '../../../../core/run/result.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { WhereTimeGoes } from './WhereTimeGoes.tsx';

const result = (n: number) => {
  const ttft = {
    measure: 'time_to_first_token',
    kind: 'distribution',
    origin: 'client',
    population: 'ok',
    clock: 'sent',
    n,
  };
  return { run_id: 'r', measures: [ttft] } as unknown as ResultFile;
};

function show(first_token_time: FirstTokenTime | null, { n = 100, hasServers = true } = {}) {
  const exporter = {
    firstTokenTime: () => Promise.resolve({ run_id: 'r', first_token_time }),
  } as unknown as ExporterApi;
  render(<WhereTimeGoes result={result(n)} exporter={exporter} hasServers={hasServers} />);
}

const TIME: FirstTokenTime = {
  ...{ requests: 100, client_seconds: 0.1, server_seconds: 0.08, notes: [] },
  parts: [
    { part: 'queue', seconds: 0.03, families: ['vllm:request_queue_time_seconds'] },
    { part: 'not_attributed', seconds: 0.05, families: [] },
    { part: 'outside', seconds: 0.02, families: [] },
  ],
};

test('a part per row with its mean and share, and all together', async () => {
  show(TIME);
  expect((await screen.findAllByRole('row')).map((row) => row.textContent)).toEqual([
    'Server: queue30 ms30 %',
    'Not attributed50 ms50 %',
    'Outside the servers20 ms20 %',
    'Together100 ms',
  ]);
});

test('no bar where parts overlap, but the reason', async () => {
  show({ ...TIME, parts: null, notes: ['parts overlap'] });
  expect(await screen.findByText('parts overlap')).toBeInTheDocument();
  expect(screen.queryByRole('table')).toBeNull();
});

test('why there is nothing to divide', async () => {
  show(null);
  expect(await screen.findByText(/No server of this run exposes/)).toBeInTheDocument();
  show(null, { n: 0, hasServers: false });
  expect(await screen.findByText(/not streamed/)).toBeInTheDocument();
});
