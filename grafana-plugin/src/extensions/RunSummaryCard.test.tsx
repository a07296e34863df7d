import type { DataSourceInstanceSettings } from '@grafana/data';
import { type DataSourceSrv, setDataSourceSrv } from '@grafana/runtime';
import { render, screen } from '@testing-library/react';
import React from 'react';
import { MemoryRouter } from 'react-router-dom';
import { fakeBackend, httpError } from '../../test/backend.ts';
import { runSummary } from '../../../core/api/testing/run-summary.ts';
import RunSummaryCard from './RunSummaryCard.tsx';

function show(sources: Array<Partial<DataSourceInstanceSettings>>) {
  setDataSourceSrv({ getList: () => sources } as unknown as DataSourceSrv);
  render(
    <MemoryRouter future={{ v7_startTransition: true, v7_relativeSplatPath: true }}>
      <RunSummaryCard runId="a" />
    </MemoryRouter>
  );
}

test('the key numbers of the run, and the way to its page', async () => {
  fakeBackend(() => ({ summary: runSummary({ run_id: 'a' }) }));
  show([{ uid: 'x', url: '/proxy' }]);
  expect(await screen.findByRole('group', { name: 'TTFT p99' })).toHaveTextContent('400 ms');
  expect(screen.getByRole('group', { name: 'Errors' })).toHaveTextContent('9.09 %');
  expect(screen.getByRole('link', { name: 'chat' })).toHaveAttribute(
    'href',
    expect.stringMatching(/^\/a\/llmbench-observability-app\/runs\/a\?from=\d+&to=\d+$/)
  );
});

test('the reason is shown when there is no card', async () => {
  fakeBackend(() => {
    throw httpError(404, { detail: 'there is no run a' });
  });
  show([{ uid: 'x', url: '/proxy' }]);
  expect(await screen.findByText('there is no run a.')).toBeInTheDocument();
});

test('a missing data source is reported', async () => {
  show([]);
  expect(await screen.findByText('Grafana has no data source "llmbench runs".')).toBeInTheDocument();
});
